#!/bin/sh
# Made by `hardwon install cline`, removed by `hardwon uninstall cline`.
HARDWON
