import { anyOf, oneOf, pattern } from '../formats/words.ts';
import { ANY_CHANGE, type Rule } from '../judges/rule.ts';

const VIM_EXPRESSIONS = oneOf`
  foldexpr fde foldtext fdt indentexpr inde formatexpr fex includeexpr inex makeprg mp equalprg ep grepprg gp
  keywordprg kp runtimepath rtp statusline stl printexpr pexpr
`;
/** Files that vim and Emacs evaluate, and what they evaluate in others. */
export const textEditorRules: readonly Rule[] = [
  {
    id: 'editor-vim',
    family: 'editors',
    when: 'opening the folder or a file in vim or Neovim, also through a plugin',
    severity: 'suspect',
    files: [
      '.vimrc',
      '_vimrc',
      '.exrc',
      '_exrc',
      '.gvimrc',
      '.nvim.lua',
      '.nvimrc',
      '.lvimrc',
      '.lite_project.lua',
      '.local.vim',
      '.vim/**',
      '.nvim/**',
      '.neoconf.json',
      '.vimspector.json',
      '.projections.json',
      'Session.vim',
      '.ycm_extra_conf.py',
      '.ccls',
      '.clangd',
      '.lazy.lua',
      '.kakrc',
      '.local.vimrc',
      '.vimrc.local',
      '.globalrc',
      'gtags.conf',
      '.micro/**',
      '.vimspector/**',
      '.nfnl.fnl',
      '.exrc.lua',
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'The editor runs it, or programs that it names.',
    source: "vim's :help exrc",
  },
  {
    id: 'editor-emacs',
    family: 'editors',
    when: 'visiting a file of the folder in Emacs',
    severity: 'suspect',
    files: [
      '.dir-locals.el',
      '.dir-locals-2.el',
      '.projectile',
      '.emacs',
      '.emacs.d/**',
      '.yas-setup.el',
      'Eask',
      'Cask',
      '.dir-locals.eld',
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'Emacs sets variables and evaluates forms from it.',
    source: 'Emacs manual, Safe File Variables',
  },
  {
    id: 'editor-modeline',
    family: 'editors',
    when: 'opening the file in Emacs or vim',
    severity: 'suspect',
    files: ['*'],
    look: [
      {
        kind: 'lines',
        mark: /-\*-|eval:|-(?:program|command|executable):|compile-command|\bvim?[<=>\d]{0,6}:|\bex:/i,
        danger: anyOf(
          /-\*-.{0,400}\b(eval|[\w-]{1,40}-(program|command|executable|function|hook)|compile-command|load-path)\s*:/i,
          /^\W{0,8}\s{0,8}eval:\s|^\W{0,8}\s{0,8}(compile-command|[\w-]{1,40}-(program|command|executable)):/i,
          pattern('i')`\b(vim?[<=>]{0,2}\d{0,4}|ex):\s{0,4}(set?\s)?.{0,200}\b(${VIM_EXPRESSIONS})=`,
          /^\S{1,10}\s{1,4}(eval:\s{0,4}\(|compile-command:)/i,
        ),
        harmless: /^[^#;/*%"'-]{0,8}eval:\s*(true|false|0|1)/,
      },
    ],
    why: 'The editor evaluates an expression in the file.',
    source: 'Emacs manual, File Variables',
  },
  {
    id: 'editor-emacs-code',
    family: 'editors',
    when: 'byte compiling the file, or exporting the document in Emacs',
    severity: 'suspect',
    files: ['*.{el,org}'],
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /\((eval-when-compile|eval-and-compile|defmacro)\b.{0,200}\b(shell-command|call-process|start-process|make-process|url-retrieve|load)\b/i,
          /^#\+(begin_src|call|header|property)\b.{0,300}(:eval\s+(?!no|never)|:var\s+\w+=\(|=\()/i,
          /^#\+(call|babel|bind|setupfile|include):/i,
        ),
      },
    ],
    why: 'Emacs evaluates it when it compiles or exports the file, not only when a user runs it.',
    source: 'Emacs Lisp manual, Eval During Compile; Org manual, Evaluating Code Blocks',
  },
];
