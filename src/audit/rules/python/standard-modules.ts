import { words } from '../../formats/words.ts';

/**
 * Modules by which an import is hijacked, by top-level name: all of Python's standard library from 3.8 to 3.14 that a
 * program may import (`sys.stdlib_module_names`, without `test` and modules that nothing imports), then packages that
 * nearly every project or its tools import.
 */
export const STDLIB = words`
  abc aifc annotationlib argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex
  bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys
  compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses
  dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum
  errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt
  getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io
  ipaddress itertools json keyword linecache locale logging lzma macpath macurl2path mailbox mailcap marshal math
  mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode
  operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib
  posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat pyrepl queue quopri
  random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal
  site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat
  statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile
  telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback
  tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser
  winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
  numpy pandas requests yaml click flask django pytest setuptools pip six attr attrs jinja2 pydantic rich torch
  scipy matplotlib urllib3 certifi idna chardet boto3 google pkg_resources wheel typing_extensions black coverage
  debugpy flake8 ipykernel ipykernel_launcher isort jedi mypy nox pydevd pylint _pytest tox virtualenv
`;
