import { BUILDS } from './builds.ts';
import { GIT_AND_SHELL } from './git-and-shell.ts';
import { JAVASCRIPT } from './javascript.ts';
import { LANGUAGES } from './languages.ts';
import type { Mechanism } from './mechanism.ts';
import { PYTHON } from './python.ts';

export const MECHANISMS: readonly Mechanism[] = [...GIT_AND_SHELL, ...BUILDS, ...PYTHON, ...JAVASCRIPT, ...LANGUAGES];
