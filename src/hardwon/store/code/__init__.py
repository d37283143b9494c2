# The end of the name of the code index's file, which lies beside the store (codefile.py).
CODE = ".code"
