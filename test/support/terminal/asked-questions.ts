import * as commands from '../../../src/cli/commands/mcp/questions.ts';
import * as decisions from '../../../src/cli/commands/review/questions.ts';
import * as run from '../../../src/cli/run/questions.ts';
import * as review from '../../../src/review/screen/questions.ts';
import * as later from '../../../src/session/later/questions.ts';
import * as modes from '../../../src/session/modes/questions.ts';
import * as outcome from '../../../src/session/outcome/questions.ts';
import * as start from '../../../src/session/start/questions.ts';
import type { Question } from '../../../src/terminal/ask.ts';

/** A question as a user may see it, and the answer that Enter must be: the one after which least happens. */
interface Asked {
  readonly question: Question<string>;
  readonly enter: string;
}

const asked = <Key extends string>(question: Question<Key>, enter: NoInfer<Key>): Asked => ({
  question: question as unknown as Question<string>,
  enter,
});

/** Every function of src that makes a question, by file and name, with samples. questions.test.ts compares it with src. */
export const ASKED: Readonly<Record<string, readonly Asked[]>> = {
  'src/cli/run/questions.ts modeQuestion': [asked(run.modeQuestion('/home/me/.config/run-claude/config.toml'), 'c')],
  'src/session/start/questions.ts startQuestion': [asked(start.startQuestion(['The lines above.']), 'y')],
  'src/session/start/questions.ts requestQuestion': [asked(start.requestQuestion(), 'n')],
  'src/cli/commands/mcp/questions.ts openLoginQuestion': [asked(commands.openLoginQuestion(), 'n')],
  'src/cli/commands/review/questions.ts discardQuestion': [
    asked(decisions.discardQuestion('ID', '3 files left', false), 'n'),
    asked(decisions.discardQuestion('ID', '3 files left', true), 'n'),
  ],
  'src/cli/commands/review/questions.ts importQuestion': [asked(decisions.importQuestion('2 suspect changes'), 'n')],
  'src/cli/commands/review/questions.ts moveQuestion': [
    asked(
      decisions.moveQuestion({ branch: 'main', commits: '1 commit', from: '1234', to: '5678', checkedOut: true }),
      'n',
    ),
  ],
  'src/session/later/questions.ts undoQuestion': [asked(later.undoQuestion('the apply of just now, 2 files'), 'n')],
  'src/session/later/questions.ts undoMergeQuestion': [asked(later.undoMergeQuestion('a.txt'), 'n')],
  'src/session/later/questions.ts undoBranchQuestion': [asked(later.undoBranchQuestion('topic'), 'n')],
  'src/session/later/questions.ts orphanedAgentQuestion': [
    asked(later.orphanedAgentQuestion('Ctrl-P Ctrl-Q leaves it again'), 'l'),
    asked(later.orphanedAgentQuestion(undefined), 'l'),
  ],
  'src/session/modes/questions.ts unmaskedQuestion': [
    asked(modes.unmaskedQuestion('the masked files of this project cannot be watched: a reason'), 'n'),
  ],
  'src/session/modes/questions.ts restoreQuestion': [asked(modes.restoreQuestion(), 'y')],
  'src/review/screen/questions.ts applyQuestion': [
    asked(review.applyQuestion('~/project', false), 'n'),
    asked(review.applyQuestion('~/rehearsed', true), 'n'),
  ],
  'src/session/outcome/questions.ts rehearseQuestion': [asked(outcome.rehearseQuestion(), 'n')],
  'src/review/screen/questions.ts massDeletionQuestion': [
    asked(review.massDeletionQuestion({ deleted: 60, of: 100 }), 'n'),
  ],
  'src/review/screen/questions.ts suspectQuestion': [
    asked(review.suspectQuestion({ name: 'Makefile' }), 'n'),
    asked(review.suspectQuestion({ name: 'b', renamedFrom: 'a', at: 2, of: 3 }), 'n'),
  ],
  'src/review/screen/questions.ts removalQuestion': [
    asked(review.removalQuestion({ kind: 'delete', names: 'a', contentIn: undefined }), 'n'),
    asked(review.removalQuestion({ kind: 'replace', names: 'a', contentIn: 'b.log' }), 'n'),
  ],
  'src/review/screen/questions.ts unignoredQuestion': [asked(review.unignoredQuestion('39 files (vim)'), 'n')],
  'src/review/screen/questions.ts mergeQuestion': [asked(review.mergeQuestion('a.txt'), 'n')],
  'src/review/screen/questions.ts conflictQuestion': [
    asked(review.conflictQuestion(['keep', 'theirs', 'markers', 'file'], true), 'k'),
    asked(review.conflictQuestion(['keep', 'file'], false), 'k'),
  ],
  'src/review/screen/questions.ts fileQuestion': [asked(review.fileQuestion('Take src/x.ts', 1, 9), 'n')],
  'src/review/screen/questions.ts partQuestion': [
    asked(review.partQuestion('src/x.ts', 1, 2, true), 'n'),
    asked(review.partQuestion('src/x.ts', 2, 2, false), 'n'),
  ],
  'src/review/screen/questions.ts deletionsQuestion': [
    asked(review.deletionsQuestion(['a', 'b'], false), 'n'),
    asked(review.deletionsQuestion(['a', 'b', 'c', 'd'], true), 'n'),
  ],
  'src/review/screen/questions.ts selectionQuestion': [asked(review.selectionQuestion(17, 18, '1 blocked'), 'n')],
};
