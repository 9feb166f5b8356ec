import { describe, expect, it } from 'vitest';
import { helpText } from '../../../../src/cli/grammar/help.ts';
import { helpAbout } from '../../../../src/cli/help/help-page.ts';
import { plainPage } from '../../../../src/cli/help/plain-page.ts';
import { widthOf } from '../../../../src/terminal/columns/width.ts';
import { listPages } from '../../../support/markdown.ts';

describe('run-claude help TOPIC', () => {
  it('prints a command, and a page where no command has the name', () => {
    expect(helpAbout('apply')).toBe(helpText('apply'));
    expect(helpAbout('tutorial')).toMatch(/^# Tutorial: your first session\n/);
    expect(helpAbout('review-changes')).toMatch(/^# Review and apply changes\n/);
    expect(helpAbout('docs/how-to/batch.md')).toMatch(/^# Run many tasks\n/);
  });

  it('prints every page that it lists', () => {
    const rows = helpAbout('pages').trim().split('\n');
    const names = rows.map((row) => row.split(' ', 1)[0] ?? '');
    expect(names).toEqual(
      listPages()
        .filter((name) => name.startsWith('docs/'))
        .map((name) => name.slice(0, -'.md'.length)),
    );
    for (const [at, name] of names.entries()) {
      const [title = ''] = helpAbout(name).split('\n', 1);
      expect(title).toBe(`# ${rows[at]?.slice(name.length).trim()}`);
    }
    expect(
      helpAbout('pages', 80)
        .split('\n')
        .filter((row) => widthOf(row) > 80),
    ).toEqual([]);
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

  it('fits the terminal, but for code and for words without blanks', () => {
    for (const page of ['faq', 'choose-what-enters', 'tutorial', 'settings', 'exit-statuses']) {
      let isCode = false;
      const long = helpAbout(page, 60)
        .split('\n')
        .filter((line) => {
          if (line.startsWith('```')) isCode = !isCode;
          return !isCode && widthOf(line) > 60 && /\S \S/.test(line.trim()) && !line.includes('run-claude ');
        });
      expect(long).toEqual([]);
    }
  });

  it('shows a table side by side where it fits, and otherwise each row with its other cells below', () => {
    const table = '| you want | page |\n|---|---|\n| a `x\\|y` | [One](one.md) |\n| another | Two |\n\nEnd.\n';
    expect(plainPage(table, 40)).toBe('you want  page\na `x|y`   One\nanother   Two\n\nEnd.\n');
    expect(plainPage(table.replace('another', 'another thing of this world'), 30)).toBe(
      'a `x|y`\n  page: One\nanother thing of this world\n  page: Two\n\nEnd.\n',
    );
  });

  it('has no comments, pictures and addresses outside of code', () => {
    const page =
      '# A\n\n![p](x.svg)\n\n<!-- run -->\n```sh\necho "[a](b)" **\n```\nSee [the page](how-to/x.md), **now**.\n';
    expect(plainPage(page)).toBe('# A\n\n```sh\necho "[a](b)" **\n```\nSee the page, now.\n');
  });
});
