# The end of the name of the file of sessions, which lies beside the store (workfile.py).
WORK = ".work"
