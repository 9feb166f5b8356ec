/** Files that a program runs. */
export const SCRIPTS: RegExp =
  /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]s|ps1|bat|cmd|lua|groovy|gradle|cmake|jl|exs|R|awk|sed|gdb|m4|gp|gnuplot|el|vim|tcl|exp|zig|nim|sc|nf)$/i;
export const NO_EXTENSION: RegExp = /(^|\/)[^./]+$/;
/** Text, pictures and styles: whatever names them, nothing in them is run. */
export const FOR_READERS: RegExp = /\.(md|rst|txt|adoc|png|svg|jpe?g|gif|ico|s?css|less|html?|lock|log|csv|woff2?)$/i;
