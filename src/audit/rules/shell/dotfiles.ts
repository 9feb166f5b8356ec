import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import { ANY_CHANGE, not, type Rule } from '../../judges/rule.ts';
import { SAMPLES } from './startup.ts';

/** Programs of a desktop whose folder of settings has their name. */
const DESKTOP_PROGRAMS = words`
  i3 i3status sway hypr river niri labwc openbox bspwm sxhkd awesome qtile xmonad waybar polybar eww rofi
  dunst mako picom swaylock yabai skhd aerospace hammerspoon karabiner espanso ghostty wezterm zellij lf
  ranger nnn yazi newsboat neomutt mutt aerc qutebrowser
`;

/** Files of a home directory that dotfiles repositories keep without the dot. */
/** How the names of variables begin that a shell, a linker or a language reads at its start. */
const READ_BY_TOOLS = oneOf`
  LD_ DYLD_ NODE_OPTIONS BASH_ENV PYTHON(PATH|STARTUP|HOME) PERL5 RUBY(OPT|LIB) GIT_(SSH|EXTERNAL|PAGER|CONFIG) JAVA_TOOL
  PROMPT_COMMAND PS4 ZDOTDIR RUSTC CARGO_BUILD MAKEFLAGS JDK_JAVA MAVEN_ GRADLE_ PYTEST_ADDOPTS CODEX_HOME CLAUDE_CONFIG
  ANTHROPIC_BASE_URL
`;

export const dotfileRules: readonly Rule[] = [
  {
    id: 'shell-home-plain',
    family: 'shell',
    when: 'a new shell, editor, terminal or window manager, if your home links to the file',
    severity: 'suspect',
    files: [
      '{z,ba,k,tc,c}shrc',
      '{zshenv,zprofile,zlogin,zlogout,bash_profile,bash_login,bash_logout,bash_aliases,inputrc}',
      '{xinitrc,xsession,xprofile,Xresources,Xdefaults}',
      '{vimrc,gvimrc,ideavimrc,init.vim,early-init.el,init.el}',
      '/{,*/}{nvim,vim}/**/*.{lua,vim}',
      '{emacs,emacs.d,doom,doom.d}/*.el',
      'tmux.conf',
      'tmux/*.conf',
      `{${DESKTOP_PROGRAMS.join(',')}}/{config,autostart,*rc,*.{conf,toml,ini,lua,yml,yaml,py,js,json,jsonc,hs,kdl,rasi,yuck,scm,sh}}`,
      'espanso/**/*.yml',
      '{foot.ini,mpv.conf}',
      'mpv/scripts/**',
      '{kitty.conf,alacritty.toml,alacritty.yml,wezterm.lua,karabiner.json,aerospace.toml,starship.toml}',
      '{skhd,yabai,sxhkd,bspwm,dunst,lf,mutt,neomutt,msmtp,mbsync}rc',
      '{zsh,bash,fish}/**/*.{zsh,bash,fish}',
      '{zshrc,bashrc}.d/*',
      '{conf.d,functions}/*.fish',
      'env.fish',
      '{profile.d,environment.d}/*',
      'user-dirs.dirs',
      'mimeapps.list',
      '*.gitconfig',
      'gitconfig.{d/*,inc,local}',
      'ssh/config',
      ...not(SAMPLES),
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'If your home links to the file, the file runs at the next login or start of the program.',
    source: 'the FILES sections of their manuals; GNU Stow',
  },
  {
    id: 'shell-env-sample',
    family: 'shell',
    when: 'copying it to .env, as its name suggests',
    severity: 'suspect',
    files: ['.env.example', '.env.sample', '.env.template', '.env.*.example', '.env.dist'],
    look: [
      {
        kind: 'lines',
        danger: anyOf(/^[^#]*(\$\(|`)/, pattern()`^(export\s+)?(${READ_BY_TOOLS})\w*\s*=`),
      },
    ],
    why: 'A shell or a tool reads the copy and runs its contents.',
    source: 'oh-my-zsh dotenv; git(1) ENVIRONMENT',
  },
  {
    id: 'encryption-recipients',
    family: 'shell',
    when: 'the next encryption of a secret',
    severity: 'suspect',
    files: [
      '.gpg-id',
      '{.,}age-recipients{,.txt}',
      '.sops.y{,a}ml',
      '.agebox/**',
      '.git-crypt/**',
      '.gitsecret/**',
      'secrets.nix',
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'The recipients that it names can read every secret that is encrypted from now on.',
    source: 'pass(1); sops, age and git-crypt documentation',
  },
];
