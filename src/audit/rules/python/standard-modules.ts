import { words } from '../../formats/words.ts';

/** Modules of Python's standard library and of packages that nearly every project imports, by top-level name. */
export const STDLIB = words`
  abc argparse ast asyncio base64 bdb bisect builtins bz2 calendar cgi cmd code codecs collections colorsys concurrent
  configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis email
  encodings enum errno fcntl filecmp fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip
  hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword linecache locale logging
  lzma mailbox marshal math mimetypes mmap multiprocessing netrc numbers operator optparse os pathlib pdb pickle pickletools
  pkgutil platform plistlib poplib posixpath pprint profile pstats pty pwd queue quopri random re readline reprlib resource
  runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat
  statistics string stringprep struct subprocess symtable sys sysconfig tarfile tempfile textwrap threading time timeit
  token tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uuid venv warnings
  weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
  numpy pandas requests yaml click flask django pytest setuptools pip six attr attrs jinja2 pydantic rich
  torch scipy matplotlib urllib3 certifi idna chardet boto3 google pkg_resources wheel typing_extensions
  black coverage debugpy flake8 ipykernel ipykernel_launcher isort jedi mypy nox pydevd pylint _pytest tox virtualenv
`;
