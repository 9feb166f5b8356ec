import { describe, expect, it } from 'vitest';
import { helpText } from '../../../../src/cli/grammar/help.ts';
import { helpAbout, plainPage } from '../../../../src/cli/help/help-page.ts';
import { listPages } from '../../../support/markdown.ts';

describe('run-claude help TOPIC', () => {
  it('prints a command, and a page where no command has the name', () => {
    expect(helpAbout('apply')).toBe(helpText('apply'));
    expect(helpAbout('tutorial')).toMatch(/^# Tutorial: your first session\n/);
    expect(helpAbout('review-changes')).toMatch(/^# Review and apply changes\n/);
    expect(helpAbout('docs/how-to/batch.md')).toMatch(/^# Run many tasks\n/);
  });

  it('prints every page that it lists', () => {
    const names = helpAbout('pages').trim().split('\n');
    expect(names).toEqual(
      listPages()
        .filter((name) => name.startsWith('docs/'))
        .map((name) => name.slice(0, -'.md'.length)),
    );
    for (const name of names) expect(helpAbout(name)).toMatch(/^# /);
  });

  it.each([
    ['nope', 'run-claude help lists the commands. run-claude help pages lists the pages.'],
    ['aply', 'Did you mean run-claude help apply?'],
    ['dif', 'Did you mean run-claude help diff?'],
    ['dwon', 'Did you mean run-claude help down?'],
    ['notee', 'Did you mean run-claude help note?'],
    ['tutorail', 'Did you mean run-claude help tutorial?'],
    ['review-change', 'Did you mean run-claude help review-changes?'],
  ])('suggests for %s a command or a page that may be meant, and no other', (word, hint) => {
    expect(() => helpAbout(word)).toThrow(
      expect.objectContaining({ message: `help: there is no command or page '${word}'`, hint, status: 2 }),
    );
  });

  it('has no comments, pictures and addresses outside of code', () => {
    const page =
      '# A\n\n![p](x.svg)\n\n<!-- run -->\n```sh\necho "[a](b)" **\n```\nSee [the page](how-to/x.md), **now**.\n';
    expect(plainPage(page)).toBe('# A\n\n```sh\necho "[a](b)" **\n```\nSee the page, now.\n');
  });
});
