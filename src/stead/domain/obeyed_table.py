"""The table of files that programs of the person's obey untold, one row a program.

Layer: domain. Data alone; ``domain.obeyed`` reads it. A pattern is one name or several with slashes between them, found
anywhere in a path, in whatever letter case, and everything below it counts with it. A star stands for any letters of
one name.

A file belongs here when a program acts on it by itself: a prompt at ``cd``, an editor that opens the
folder, a tool at its start, a hook, a server after a push, an agent. Programs that a person starts on purpose are left
out, with the configuration that only they read: Makefile, justfile, package.json, pyproject.toml, setup.py,
conftest.py, build.rs, build.gradle, compose.yaml with its override, Dockerfile, Vagrantfile, settings of linters,
formatters and test runners. To change those is what an agent is for, and to run them is to run the project.

What would land in any of them waits for the person's review. In the profile ``ask`` a command that names one is
confirmed each time, but for "tools": package managers write there all the time. "asked" is an ordinary file that is
obeyed for the reason that the row gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Kept = Literal["held", "asked", "tools"]


class Row(msgspec.Struct, frozen=True):
    """What one program obeys.

    Args:
        program: its name.
        patterns: see the module.
        runs: what is run, or believed, and when.
        source: the program's documentation that says so, by name.
        kept: how it is guarded; see the module.
    """

    program: str
    patterns: tuple[str, ...]
    runs: str
    source: str
    kept: Kept


PROJECT_RULES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
"""Where projects speak to agents, and what Stead tells its sessions; the field's common name first."""

_ROWS = """
git | held | hooks, filters and programs of its settings | git-config(1), githooks(5), gitattributes(5), gitmodules(5)
    .git .gitattributes .gitmodules .gitconfig
git, by convention | held | hooks, where core.hooksPath names the folder | git-config(1), core.hooksPath
    .githooks .git-hooks
husky | held | scripts, at each git hook | husky, How To
    .husky .huskyrc*
pre-commit | held | its entries, at each git hook | pre-commit, Adding plugins
    .pre-commit-config.yaml .pre-commit-config.yml
lefthook | held | commands, at each git hook | lefthook, Configuration
    lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml
    .lefthook.json lefthook-local.* .lefthook-local.* .lefthook .lefthook-local
overcommit | held | its hooks, at each git hook | overcommit, README: Configuration
    .overcommit.yml .local-overcommit.yml
simple-git-hooks | held | commands, when hooks are installed | simple-git-hooks, README
    .simple-git-hooks.* simple-git-hooks.*
lint-staged | held | commands, from the commit hook | lint-staged, Configuration
    .lintstagedrc* lint-staged.config.*
commitlint | held | JavaScript, from the commit hook | commitlint, Configuration
    .commitlintrc* commitlint.config.*
CaptainHook | held | actions, at each git hook | CaptainHook, Configure
    captainhook.json
Jujutsu | held | fsmonitor, editor and merge tools of its settings | Jujutsu, Settings
    .jj
Mercurial | held | hooks and extensions, at any hg | hgrc(5)
    .hg .hgrc
Subversion | held | working copy settings, at any svn | Version Control with Subversion, Runtime Configuration Area
    .svn
Breezy | held | branch settings, at any bzr | Breezy, Configuration
    .bzr
Fossil | held | versioned settings, at any fossil | fossil, Settings
    .fossil-settings .fslckout _fossil_
Sapling | held | hooks and extensions, at any sl | Sapling, Configuration
    .sl
Arcanist | held | libraries that it loads, at any arc | Phabricator, Arcanist User Guide
    .arcconfig .arclint
repo | held | hooks of the manifest, at upload | repo, Hooks
    .repo

bash | held | at the start and end of each shell | bash(1), INVOCATION
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
zsh | held | at the start and end of each shell | zsh(1), STARTUP/SHUTDOWN FILES
    .zshrc .zshenv .zprofile .zlogin .zlogout
other shells | held | at the start of each shell | ksh(1), tcsh(1), xonsh, Run Control Files
    .kshrc .mkshrc .cshrc .tcshrc .login .logout .xonshrc
PowerShell | held | at the start of each shell | PowerShell, about_Profiles
    profile.ps1 Microsoft.PowerShell_profile.ps1
readline, dircolors, lesspipe | held | key bindings that type commands; filters | readline(3), lesspipe(1)
    .inputrc .dircolors .lessfilter
direnv | held | a script, at the next prompt in the folder | direnv(1)
    .envrc .envrc.* .direnv .env
autoenv, smartcd, shadowenv | held | a script, at cd | autoenv, smartcd, shadowenv, README
    .autoenv.zsh .autoenv_leave.zsh .env.leave .bash_enter .bash_leave .shadowenv.d
asdf | held | picks the programs that commands start, by path too | asdf, Configuration
    .tool-versions .asdfrc
mise | held | environment, hooks and tasks, at cd | mise, Configuration
    mise.toml .mise.toml mise.*.toml .mise.*.toml mise .mise .rtx.toml
rvm | held | a script, at cd | rvm, Workflow: Project
    .rvmrc .versions.conf
pyenv, uv | asked | picks the interpreter; uv init writes it too | pyenv(1), uv, Python versions
    .python-version .python-versions
Nix, devenv | asked | a shell's hook, through direnv; changed in ordinary work | direnv, use flake; devenv, activation
    flake.nix shell.nix devenv.nix devenv.yaml
dotenv | asked | environment of frameworks; an ordinary file | dotenv, README
    .env.local
tmux, screen | held | commands, at the start | tmux(1), screen(1)
    .tmux.conf .screenrc
X11 sessions | held | at sign-in | xinit(1), Xsession(5)
    .xinitrc .xprofile .xsession .xsessionrc
settings of a home | held | start-up files, user services, commands | XDG Base Directory Specification
    .config .local
mail | held | programs, when mail is delivered or read | aliases(5), procmailrc(5), muttrc(5)
    .forward .procmailrc .mailcap .muttrc .fetchmailrc .msmtprc
ssh | held | who may sign in; ProxyCommand, Match exec | ssh_config(5), sshd(8)
    .ssh authorized_keys
keys and clouds | held | programs that fetch credentials | gpg(1), aws, credential_process; kubectl, exec credentials
    .gnupg .netrc .aws .kube
docker | held | credential helpers and plugins, at any docker | docker(1), Docker CLI configuration
    .docker/config.json .docker/cli-plugins .docker/contexts
curl, wget, ripgrep | held | options of every call: where it writes, through what it filters | curl(1), wget(1), rg(1)
    .curlrc .wgetrc .ripgreprc .rgignore

VS Code | held | tasks, debuggers, linters, when the folder is opened | VS Code, Workspace Trust; Tasks
    .vscode *.code-workspace
development containers | held | initializeCommand, on the host | Dev Container metadata reference
    .devcontainer .devcontainer.json
JetBrains | held | run configurations, watchers, external tools | IntelliJ IDEA, Trusted projects
    .idea .run *.run.xml *.ipr .fleet
Zed | held | language servers and tasks | Zed, Tasks; Configuring Zed
    .zed
Helix | held | language servers, when a file is opened | Helix, Languages
    .helix
Vim, Neovim | held | a script, with exrc set, at its start | Vim, starting.txt; Neovim, 'exrc'
    .vimrc .gvimrc _vimrc .vim .lvimrc .local.vimrc .exrc .nvimrc .nvim.lua .viminfo
YouCompleteMe | held | Python, when a file is opened | YouCompleteMe, README
    .ycm_extra_conf.py
Emacs | held | Lisp, when a file of the folder is visited | Emacs, Per-Directory Local Variables
    .dir-locals.el .dir-locals-2.el .emacs .emacs.d
Sublime Text | held | build systems and settings, when it is opened | Sublime Text, Projects; Build Systems
    *.sublime-project *.sublime-build *.sublime-workspace
Nova, Theia | held | tasks | Nova, Project Tasks; Eclipse Theia, Tasks
    .nova .theia
Eclipse | held | builders, when the project is imported | Eclipse, External tools builders
    .externalToolBuilders .project
Visual Studio, OmniSharp | held | analysers, when the folder is opened | OmniSharp, Configuration Options
    .vs omnisharp.json
language servers | held | plugins, when a file is opened | lua-language-server, hie-bios, Solargraph, BSP
    .luarc.json .luarc.jsonc hie.yaml .solargraph.yml .bsp

pdb | held | commands, at each breakpoint | Python, pdb
    .pdbrc
gdb | held | commands, at its start in the folder | GDB, Init File in the Current Directory
    .gdbinit .gdbearlyinit *-gdb.py *-gdb.gdb *-gdb.scm
lldb | held | commands, at its start in the folder | LLDB, Configuration Files
    .lldbinit
perl -d | held | Perl, at its start in the folder | perldebug(1)
    .perldb
prove | held | options that load modules, at its start in the folder | prove(1)
    .proverc
radare2 | held | commands, at its start | radare2(1)
    .radare2rc .rizinrc
R | held | R, at its start in the folder | R, Startup
    .Rprofile .Renviron .RData
Octave | held | a script, at its start in the folder | GNU Octave, Startup Files
    .octaverc
Ruby consoles | held | Ruby, at their start in the folder | irb(1), Pry, Customization
    .irbrc _irbrc .pryrc
GHCi | held | commands, at its start in the folder | GHC, The .ghci files
    .ghci
OCaml | held | OCaml, at its start in the folder | ocaml(1)
    .ocamlinit
IEx | held | Elixir, at its start in the folder | IEx, The .iex.exs file
    .iex.exs
database consoles | held | commands, at their start | psql(1), sqlite3(1)
    .psqlrc .sqliterc
Python | held | Python, at each start that finds it | Python, site
    sitecustomize* usercustomize* .pythonrc .pythonrc.py .pythonstartup
IPython, Jupyter | held | Python, at its start in the folder | Jupyter, Config file and directories
    .ipython .jupyter jupyter_*config.py jupyter_*config.json ipython_config.py

pip | held | where packages come from and go to | pip, Configuration; conda, .condarc
    .pypirc pip.conf pip.ini .condarc
uv | held | where packages come from | uv, Configuration files
    uv.toml
npm | held | where packages come from; the shell and node of scripts | npmrc(5)
    .npmrc
Yarn | held | yarnPath and plugins, at each yarn | Yarn, Settings
    .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins
pnpm | held | JavaScript, at each install | pnpm, .pnpmfile.cjs
    .pnpmfile.cjs .pnpmfile.mjs
Bun | held | preloaded scripts, at each bun | Bun, bunfig.toml
    bunfig.toml
Cargo, rustup | held | wrappers and toolchains by path; editors start them | Cargo, Configuration; rustup
    .cargo/config .cargo/config.toml .cargo/env .cargo/bin rust-toolchain rust-toolchain.toml
Bundler | held | where gems come from; plugins | bundle-config(1)
    .bundle/config .bundle/plugin
Maven | held | extensions and options of the JVM, at each mvn | Maven, Configuring Apache Maven
    .mvn .mavenrc .m2/settings.xml
Gradle | held | what the wrapper runs; scripts before each build | Gradle, Initialization Scripts
    gradle/wrapper .gradle/init.d .gradle/init.gradle .gradle/init.gradle.kts .gradle/gradle.properties
sbt | held | options of the JVM, at each sbt | sbt, Command line reference
    .sbtopts .jvmopts .sbtrc .sbt
Bazel, Buck | held | programs by option, and which bazel is run | Bazel, .bazelrc; Bazelisk, README
    .bazelrc .bazelversion .bazeliskrc tools/bazel .buckconfig .plzconfig
NuGet | held | where packages come from | NuGet, nuget.config reference
    nuget.config
Terraform | held | where providers come from | Terraform, CLI Configuration File
    .terraformrc terraform.rc
Ansible | held | plugins, at each ansible in the folder | Ansible, Configuration Settings
    ansible.cfg .ansible.cfg
PHP | held | a script before each page of the folder | PHP, .user.ini files
    .user.ini
Apache | asked | handlers of a served folder; an ordinary file of such projects | Apache HTTP Server, .htaccess files
    .htaccess

installed programs | tools | editors and prompts start these by themselves | VS Code, Python; npm, folders(5)
    .venv/bin .venv/Scripts venv/bin venv/Scripts env/bin virtualenv/bin .virtualenv/bin node_modules/.bin
    vendor/bin .pixi/envs/*/bin _opam/bin .terraform/providers
installed Python | tools | Python, at each start of that interpreter | Python, site
    *.pth pyvenv.cfg

GitHub | held | with the repository's secrets, after a push | GitHub Actions, Workflow syntax
    .github/workflows .github/actions
GitLab | held | with the project's variables, after a push | GitLab, CI/CD YAML syntax reference
    .gitlab-ci.yml .gitlab-ci.yaml .gitlab-ci
Forgejo, Gitea | held | after a push | Forgejo Actions; Gitea Actions
    .forgejo .gitea
Jenkins | held | after a push | Jenkins, Using a Jenkinsfile
    Jenkinsfile*
other CI | held | after a push | each service's reference of its configuration file
    .circleci .travis.yml .appveyor.yml appveyor.yml azure-pipelines*.yml .azure-pipelines .azuredevops
    bitbucket-pipelines.yml .drone.yml .drone.star .woodpecker .woodpecker.yml .woodpecker.yaml .cirrus.yml
    .cirrus.star .buildkite .semaphore .teamcity cloudbuild.yaml cloudbuild.yml buildspec.yml buildspec.yaml .builds
    .build.yml .tekton .zuul.yaml .zuul.d zuul.d .readthedocs.yaml .readthedocs.yml
cloud workspaces | held | tasks, when the workspace is opened | Gitpod, .gitpod.yml; Replit, Configuring Repl
    .gitpod.yml .gitpod .replit .idx .codesandbox .stackblitzrc

agents in general | held | orders; commands of MCP servers | agents.md; Model Context Protocol
    AGENTS.md AGENT.md AGENTS.override.md .agents .agent .mcp.json mcp.json
Claude Code | held | orders, hooks, MCP servers | Claude Code, Memory; Hooks; Settings
    CLAUDE.md CLAUDE.local.md .claude .claude.json
Codex | held | orders, MCP servers | Codex, Configuration
    .codex
Gemini CLI, Qwen Code | held | orders, MCP servers, tools found by command | Gemini CLI, Configuration
    GEMINI.md QWEN.md .gemini .qwen
GitHub Copilot | held | orders, hooks | GitHub Copilot, Repository custom instructions
    copilot-instructions.md .github/instructions .github/prompts .github/agents .github/chatmodes .github/hooks
    .github/skills .copilot
Cursor, Windsurf | held | orders, MCP servers | Cursor, Rules; Windsurf, Memories
    .cursor .cursorrules .windsurf .windsurfrules
Cline, Roo, Kilo | held | orders, MCP servers | Cline, Rules; Roo Code, Custom Instructions
    .clinerules .cline .roo .roorules .roomodes .kilocode .kilocodemodes
Kiro, Amazon Q | held | orders, hooks, MCP servers | Kiro, Steering; Amazon Q Developer, MCP configuration
    .kiro .amazonq
aider | held | commands for linting and testing | aider, YAML config file
    .aider.conf.yml .aider.conf.yaml .aider.model.settings.yml
opencode, Crush | held | orders, plugins, MCP servers | opencode, Config; Crush, README
    opencode.json opencode.jsonc .opencode crush.json .crush.json .crush CRUSH.md
Goose, Continue, Zed | held | orders, MCP servers | Goose, Providing Hints; Continue, config.yaml; Zed, Rules
    .goosehints .goose .continue .continuerc.json .rules
other agents | held | orders, MCP servers | each agent's page on its rules files
    .junie .augment .augment-guidelines .trae .factory .openhands .openhands_instructions .devin .tabnine WARP.md
"""
"""A row's head: program, kept, what runs and when, source. Its patterns follow, indented."""


def _read(rows: str) -> Iterator[Row]:
    for block in re.split(r"\n+(?=\S)", rows.strip()):
        head, _, patterns = block.partition("\n")
        program, how, runs, source = head.split(" | ")
        yield Row(program, tuple(patterns.split()), runs, source, msgspec.convert(how, Kept))


TABLE = tuple(_read(_ROWS))
