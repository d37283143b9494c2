#!/bin/sh
# Made by `hardwon install cline`, removed by `hardwon uninstall cline`; changes here are lost.
# A program of your own in this place is left alone, if it does not say so.
HARDWON
