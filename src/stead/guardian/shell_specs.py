"""The commands that are known, and which of their options are harmless.

Layer: guardian. Data only. An option that is not listed is not known, so the person is asked: most of those left out
write a file, run a program or read patterns from elsewhere. Abbreviated long options are never known. Be sure of a
tool's own grammar before adding a letter: one that is listed as taking a value, and does not, swallows the next one.

Source: the manuals of GNU coreutils, findutils, diffutils, grep, sed and tar, of git, ripgrep, jq, tree, file and xxd.
"""

from __future__ import annotations

import msgspec


class Spec(msgspec.Struct, frozen=True):
    """How to read one command's words.

    Args:
        operands: what the words that are no options stand for; a key of ``shell_commands``' readers, or ``paths``,
            ``pattern`` (the first is text, then paths), ``text``, ``one`` (a single path), ``none``.
        flags: harmless letters without a value; ``#`` for a number such as ``-20``; ``*`` for whatever there is, since
            no option of this command can do harm.
        valued: harmless letters with a value.
        longs: harmless long options; with ``=`` those that take a value, with ``?`` those that may, after ``=`` only.
        glued: a short option's value may follow its letter in the same word.
        needs: operands are harmless only together with one of these options.
        first: the first word must be one of these; ``-`` when there may also be no operand at all.
        writes: it changes files of the workspace, plainly.
    """

    operands: str = "paths"
    flags: str = ""
    valued: str = ""
    longs: frozenset[str] = frozenset()
    glued: bool = True
    needs: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    writes: bool = False


def _spec(
    operands: str = "paths",
    flags: str = "",
    valued: str = "",
    longs: str = "",
    *,
    glued: bool = True,
    needs: str = "",
    first: str = "",
    writes: bool = False,
) -> Spec:
    return Spec(operands, flags, valued, _names(longs), glued, _names(needs), _names(first), writes)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _each(names: str, spec: Spec) -> dict[str, Spec]:
    return dict.fromkeys(names.split(), spec)


_LOG = (
    "oneline graph all stat shortstat numstat name-only name-status decorate decorate? no-decorate patch "
    "no-patch reverse merges no-merges first-parent abbrev-commit cached staged author= since= until= after= "
    "before= grep= format? pretty? date= max-count= skip= follow branches? tags? remotes? abbrev? color? "
    "no-color word-diff? unified= ignore-all-space ignore-space-change find-renames? diff-filter= no-renames "
    "summary check exit-code quiet left-right cherry-pick topo-order date-order no-ext-diff no-textconv "
    "full-history simplify-by-decoration raw compact-summary minimal patience histogram function-context "
    "relative? no-prefix merge-base invert-grep regexp-ignore-case dirstat? ignore-blank-lines count "
    "cherry-mark source full-diff"
)
_DIFF = _spec("paths", "psuwbzraRMCtmi#", "nUSGL", _LOG)
_LIST = "list sort= format= contains= no-contains= merged? no-merged? points-at= column? color? no-color ignore-case"
_LISTING = "--list --merged --no-merged --contains --no-contains --points-at"

GIT_READS = {
    **_each("log show diff rev-list whatchanged diff-tree shortlog", _DIFF),
    "shortlog": _spec("paths", "sne#", "", "summary numbered email all no-merges since= until="),
    "status": _spec(
        "paths", "sbvz", "", "short branch porcelain? long verbose show-stash ignored? ahead-behind column?"
    ),
    "branch": _spec("text", "avr", "", f"all remotes show-current verbose {_LIST}", needs=_LISTING),
    "tag": _spec("text", "ln#", "", _LIST, needs=f"-l {_LISTING}"),
    "remote": _spec("text", "v", "", "verbose", first="- get-url"),
    "stash": _spec("text", "p", "", "stat", first="list show"),
    "worktree": _spec("text", "", "", "porcelain", first="list"),
    "reflog": _spec("text", "#", "n", "oneline all date= max-count=", first="- show"),
    "blame": _spec("paths", "wMCeslfcn", "L", "date= show-email color-lines porcelain"),
    "rev-parse": _spec(
        "paths",
        longs="abbrev-ref? short? show-toplevel git-dir is-inside-work-tree verify quiet show-prefix show-cdup "
        "symbolic-full-name is-bare-repository absolute-git-dir",
    ),
    "ls-files": _spec(
        "paths",
        "comdsztuki",
        "x",
        "others cached modified deleted stage exclude-standard exclude= full-name "
        "error-unmatch unmerged killed ignored directory",
    ),
    "ls-tree": _spec("paths", "rdtlz", "", "name-only name-status full-tree full-name long abbrev?"),
    "grep": _spec(
        "pattern",
        "niIlLcwvEFGPhHpqWa#",
        "eABCm",
        "line-number ignore-case count word-regexp cached untracked name-only "
        "files-with-matches extended-regexp fixed-strings perl-regexp heading break show-function max-depth=",
    ),
    "describe": _spec("text", "", "", "tags all always long dirty? abbrev= match= exact-match contains first-parent"),
    "merge-base": _spec("text", "a", "", "all is-ancestor fork-point octopus independent"),
    "cat-file": _spec("text", "ptse", "", ""),
    "show-ref": _spec("text", "dqs", "", "heads tags verify head hash? abbrev?"),
    "name-rev": _spec("text", "", "", "name-only tags all always"),
    "count-objects": _spec("none", "vH", "", "verbose human-readable"),
    "config": _spec(
        "text",
        "l",
        "",
        "get get-all get-regexp list local global system show-origin show-scope name-only",
        needs="--get --get-all --get-regexp",
    ),
    "check-ignore": _spec("paths", "vnq", "", "verbose non-matching quiet no-index"),
    "version": _spec("none"),
}
GIT_WRITES = {
    "add": _spec("paths", "AuvnfN", "", "all update verbose dry-run force intent-to-add"),
    "commit": _spec("paths", "aqvs", "m", "message= all quiet verbose signoff allow-empty amend no-edit author="),
}
"""Into the repository's own folder, by git's own rules."""

READS = {
    **_each(
        "cat head tail wc ls dir vdir nl tac rev paste fold fmt expand unexpand comm join cmp column stat du od"
        " hexdump hd "
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base64 base32 readlink realpath pr",
        _spec("paths", "*"),
    ),
    **_each(
        "echo pwd whoami id groups uname arch nproc uptime df ps free printenv type which basename dirname seq "
        "expr sleep "
        "true false : tr tty users who locale",
        _spec("text", "*"),
    ),
    **_each("[ test", _spec("test")),
    **_each("awk gawk mawk nawk", _spec("awk", "", "Fv")),
    **_each(
        "grep egrep fgrep",
        _spec(
            "pattern",
            "acEFGHhiIlLnoPqrRsTUvVwxyzbZ#",
            "eABCmdD",
            "include= exclude= exclude-dir= color? colour? count ignore-case line-number recursive "
            "files-with-matches files-without-match no-messages max-count= context= after-context= "
            "before-context= word-regexp fixed-strings extended-regexp perl-regexp only-matching text null "
            "invert-match no-filename with-filename quiet silent regexp= line-buffered binary-files= byte-offset",
        ),
    ),
    "rg": _spec(
        "pattern",
        "niIlLcwvFosxSupPNH0aU#",
        "etTgABCmMjdEr",
        "type= type-not= files hidden no-ignore glob= iglob= count files-with-matches files-without-match "
        "ignore-case smart-case line-number no-line-number word-regexp fixed-strings only-matching context= "
        "after-context= before-context= max-count= max-depth= multiline heading no-heading color= column json "
        "stats sort= regexp= pcre2 no-filename with-filename trim no-messages type-list "
        "invert-match case-sensitive count-matches unrestricted replace= vimgrep text",
    ),
    **_each(
        "fd fdfind", _spec("pattern", "HIsiapLgF0", "tedES", "hidden no-ignore type= extension= max-depth= exclude=")
    ),
    "find": _spec("find"),
    "sed": _spec("sed", "nErsuz", "e", "quiet silent expression= regexp-extended null-data sandbox posix"),
    "sort": _spec(
        "paths",
        "bdfgiMhnRrVcCmsuz",
        "kt",
        "reverse numeric-sort unique key= field-separator= human-numeric-sort "
        "version-sort stable ignore-case check? general-numeric-sort zero-terminated",
    ),
    "uniq": _spec("one", "cdDuiz", "fsw", "count repeated unique ignore-case skip-fields= skip-chars= check-chars="),
    "cut": _spec("paths", "nsz", "bcdf", "bytes= characters= delimiter= fields= complement output-delimiter="),
    "diff": _spec(
        "paths",
        "uqrsyiwbBEaNpctTdenf",
        "UCWxIFL",
        "brief recursive unified? context? color? side-by-side width= "
        "ignore-all-space ignore-space-change ignore-blank-lines ignore-case exclude= new-file text label= "
        "report-identical-files suppress-common-lines strip-trailing-cr minimal no-dereference",
    ),
    "file": _spec("paths", "biLkhN0", "F", "mime mime-type mime-encoding brief dereference keep-going"),
    "strings": _spec("paths", "af#", "nte", "all bytes= radix= encoding="),
    "xxd": _spec("one", "abeEiupC", "cgls", glued=False),
    "tree": _spec(
        "paths",
        "adfpshugDCFrtUlvcQ",
        "LIP",
        "dirsfirst noreport gitignore du si prune filelimit= charset= sort= matchdirs ignore-case nolinks",
        glued=False,
    ),
    "jq": _spec(
        "pattern",
        "rcsneSMCjaR",
        "",
        "raw-output compact-output slurp null-input sort-keys tab exit-status raw-input "
        "join-output monochrome-output color-output ascii-output indent=",
    ),
    "date": _spec("stamp", "uR", "d", "utc universal date= iso-8601? rfc-3339= rfc-email"),
    "hostname": _spec("none", "fsiIdA"),
    "env": _spec("none"),
    "printf": _spec("printf"),
    "tar": _spec("listing"),
    "unzip": _spec("listing"),
    "cd": _spec("cd"),
    "git": _spec("git"),
}
WRITES = {
    "mkdir": _spec("write", "pv", "m", "parents verbose mode=", writes=True),
    "rmdir": _spec("write", "pv", "", "parents verbose ignore-fail-on-non-empty", writes=True),
    "touch": _spec("write", "acm", "dt", "no-create date=", writes=True),
    "tee": _spec("write", "ai", "", "append", writes=True),
    "cp": _spec(
        "copy", "aprRfvnuidLPTHx", "", "recursive archive verbose force no-clobber update parents", writes=True
    ),
    "mv": _spec("write", "fvnuiT", "", "verbose force no-clobber update", writes=True),
    "ln": _spec("write", "sfvnrTi", "", "symbolic force verbose relative no-dereference", writes=True),
    "chmod": _spec("mode", "Rvcf", "", "recursive verbose changes", writes=True),
}
VERSIONS = _names("python python3 node gcc g++ cc clang make git bash jq rg tar perl ruby sqlite3 gawk sed grep find")
"""Programs that print their version and end before they read any file of the workspace."""

PREDICATES = _names(
    "-a -and -o -or -not ! ( ) , -print -print0 -ls -prune -quit -true -false -empty -readable -writable "
    "-executable -depth -d -mount -xdev -daystart -follow -noleaf -nouser -nogroup"
)
"""Of ``find``, without a value."""
TESTS = _names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime "
    "-ctime -mmin -amin -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum "
    "-samefile -lname -ilname -used -newermt -newerct -newerat -printf -fstype"
)
"""Of ``find``, with one."""
CONDITIONS = _names(
    "-e -f -d -r -w -x -s -L -h -n -z -b -c -p -S -O -G -N -u -g -k -eq -ne -lt -le -gt -ge -nt -ot -ef"
)
"""Of ``test``. ``-v`` and ``-R`` are not here: they run code that stands in a subscript."""
LISTINGS = {"tar": r"-?[vzjJ]*t[vzjJ]*f", "unzip": r"-(l|lv|vl|v|lq|ql|Z1?)"}
SED = (
    r"\s*(?:(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])*+/I?)(?:,(?:[+~]?\d+|\$|/(?:[^/\\\n]|\\[^\n])*+/I?))?\s*!?\s*)?"
    r"(?:[pdq=]|s/(?:[^/\\\n]|\\[^\n])*+/(?:[^/\\\n]|\\[^\n])*+/[gpiI0-9]*"
    r"|s\|(?:[^|\\\n]|\\[^\n])*+\|(?:[^|\\\n]|\\[^\n])*+\|[gpiI0-9]*"
    r"|s#(?:[^#\\\n]|\\[^\n])*+#(?:[^#\\\n]|\\[^\n])*+#[gpiI0-9]*"
    r"|y/(?:[^/\\\n]|\\[^\n])*+/(?:[^/\\\n]|\\[^\n])*+/)?\s*"
)
"""One harmless command of ``sed``: no ``e``, ``w``, ``r``, ``i``, no blocks and no labels."""
AWK_HARMFUL = r"system|getline|\||>|@|ARGV|ENVIRON|PROCINFO|/inet"
"""What lets ``awk`` run, write or reach something, once ``||`` is taken out."""
FORMAT = r"(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d*)?[sdiouxXceEfFgGbq])*"
"""Of ``printf``: no ``%n``, which stores, and no ``%(...)T``."""

WRAPPERS = {
    # name: letters without a value, letters with one, operands before the command, is it asked for by itself
    "time": ("p", "", 0, False),
    "timeout": ("v", "ks", 1, False),
    "nice": ("#", "n", 0, False),
    "stdbuf": ("", "ioe", 0, False),
    "command": ("p", "", 0, False),
    "builtin": ("", "", 0, False),
    "env": ("i", "u", 0, False),
    "ionice": ("t", "cn", 0, False),
    "nohup": ("", "", 0, True),
    "setsid": ("wfc", "", 0, True),
    "exec": ("cl", "a", 0, True),
    "sudo": ("AbEHknSPi", "ugpCTrRD", 0, True),
    "doas": ("n", "uC", 0, True),
    "watch": ("bcdegtx", "n", 0, True),
    "xargs": ("0rtpx", "IndLPsEa", 0, True),
    "parallel": ("k", "jI", 0, True),
    "busybox": ("", "", 0, True),
}
FEEDERS = frozenset({"xargs", "parallel", "watch"})
SHELLS = _names("sh bash dash zsh ksh ash fish csh tcsh rbash mksh")
INTERPRETERS = SHELLS | _names(
    "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit tclsh wish expect irb ghci "
    "Rscript R julia groovy scala swift elixir erl guile racket java jshell bc dc m4 gdb"
)
CODE_OPTIONS = ("-c", "-e", "-E", "-r", "-p", "--eval", "--print", "--command")
EVALUATORS = _names("eval source . alias trap coproc function enable hash bind complete compgen set shopt fc history")
SETTERS = _names("read mapfile readarray getopts let declare local typeset export readonly unset printf wait")
ENVIRONMENT = (
    r"PATH|LD_\w+|DYLD_\w+|IFS|BASH_\w+|BASHOPTS|ENV|SHELLOPTS|GIT_\w+|PROMPT_COMMAND|PS[0-4]|PYTHON\w*|PERL\w*|RUBY\w*|"
    r"NODE_\w+|npm_config_\w+|NPM_CONFIG_\w+|LUA_\w+|PHP\w+|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|PAGER|"
    r"MANPAGER|LESS\w*|EDITOR|VISUAL|BROWSER|SHELL|CDPATH|HOME|XDG_\w+|TAR_OPTIONS|RIPGREP_CONFIG_PATH|RUSTC\w*|CARGO_\w+|"
    r"GCONV_PATH|LOCPATH|NLSPATH|MALLOC_\w+|GOFLAGS|MAKEFLAGS|CC|CXX|SSH_\w+|SUDO_\w+|TERMINFO|GLOBIGNORE|EXECIGNORE|"
    r"POSIXLY_CORRECT|PIP_\w+|UV_\w+|OPENSSL_\w+|CURL_HOME|WGETRC|http_proxy|https_proxy|HTTPS?_PROXY|ALL_PROXY"
)
"""Variables that decide which programs run, or what they load."""
DESTROYERS = r"mkfs(\..*)?|mke2fs|wipefs|blkdiscard|fdisk|sfdisk|sgdisk|parted|shutdown|reboot|poweroff|halt|init"
REMOVERS = _names("rm unlink shred srm truncate")
NETWORKERS = _names(
    "curl wget nc ncat netcat socat ssh scp sftp rsync ftp telnet http https xh aria2c lynx w3m nmap ping dig "
    "nslookup host openssl mail sendmail"
)
RUNNERS = _names(
    "pytest make gmake cmake ninja npm pnpm yarn npx bunx cargo rustc go pip pip3 uv uvx poetry pdm hatch tox nox "
    "ruff mypy pyright black isort flake8 pylint prettier eslint tsc jest vitest mocha gradle mvn dotnet bundle "
    "rake rails composer gcc g++ cc clang clang++ javac mix sbt just task pre-commit coverage sphinx-build mkdocs"
)
"""They run or obey code and settings of the workspace; people know what they are."""
GIT_ACTS = _names(
    "push pull fetch clone checkout switch restore merge rebase reset revert cherry-pick branch tag remote stash rm"
    " mv init clean apply am worktree config gc bisect submodule format-patch archive notes reflog"
)
"""Subcommands that change something; granted by their exact words only."""
DESTRUCTIVE = {
    "git": r"(^| )(reset( .*)? --hard|clean( .*)? -\w*[fdxX]|push( .*)? (-f|--force\S*|--mirror|--delete|-d|\+\S+|:\S+)"
    r"|filter-branch|update-ref( .*)? -d|reflog (expire|delete)|gc( .*)? --prune\S*|checkout( .*)? -f)( |$)",
    "dd": r"(^| )of=/dev/(?!null)",
    "kill": r"(^| )-1$",
    "chmod": r"(^| )(-\w*R\w*|--recursive) .*(^| )/( |$)",
    "chown": r"(^| )(-\w*R\w*|--recursive) .*(^| )/( |$)",
}
HIJACKS = {
    "git": r"(?i)(^| )(-c ?(?!user\.|color\.|core\.quotepath)\S+|ext::|--(upload|receive)-pack|--exec(=| ))|ext::"
    r"|^config (?!.*--(get|list|unset)).*(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)"
    r"|alias\.|filter\.|diff\.|merge\.|gpg\.|credential\.|include|url\.|uploadpack|protocol\.|pager\.)\S* \S",
    "tar": r"--checkpoint-action|--to-command|--use-compress|--rsh-command|--info-script|--new-volume|--rmt"
    r"|(^| )-\w*[IF]",
    **dict.fromkeys(("ssh", "scp", "sftp"), r"(?i)proxycommand|localcommand|knownhostscommand|pkcs11"),
    "rsync": r"(^| )(-\w*e|--rsh|--rsync-path)",
    **dict.fromkeys(("nc", "ncat", "netcat"), r"(^| )(-\w*[ec]|--exec|--sh-exec|--lua-exec)( |=|$)"),
    "socat": r"(?i)(exec|system|shell):",
    "openssl": r"-engine|-provider",
    "enable": r"(^| )-\w*f",
    "hash": r"(^| )-\w*p",
}
"""Options that turn a program into a launcher of another; read in the arguments joined by blanks."""
SUSPICIOUS = (
    r"\b(rm|sh|bash|zsh|dash|eval|exec|source|base64|curl|wget|nc|ncat|socat|sudo|dd|mkfs|python3?|perl|ruby|node|xxd|openssl)\b"
    r"|/dev/(tcp|udp)|\$\(|`"
)
