import { outputColumns } from '../../terminal/columns/wrap-words.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import { openOutput } from '../../terminal/page-output.ts';
import { helpAbout, isPage } from './help-page.ts';

/** Prints the help of a topic: a page through the pager, as it is longer than a screen mostly. */
export async function printHelp(
  topic: string | undefined,
  { stdout, env }: NodeJS.Process,
  interruption: Interruption,
): Promise<void> {
  if (!isPage(topic)) return void stdout.write(helpAbout(topic));
  const text = helpAbout(topic, outputColumns());
  await using output = openOutput({ stdout, env, interruption });
  await output.write(text);
}
