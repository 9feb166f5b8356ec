/**
 * Letters that look like a Latin one or like each other, after UTS 39 (confusables), reduced to those that occur in names
 * and identifiers: Cyrillic, Greek, Armenian, Cherokee and Latin look-alikes.
 */
const LOOKS: Readonly<Record<string, string>> = Object.fromEntries(
  `аa вb сc ԁd еe һh іi јj кk ӏl мm нh оo рp ԛq ѕs тt уy хx ԝw ѵv ԍg ԗr үy ьb гr пn иu
   αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy ϲc ϳj
   աw եt ոn սu օo ցg հh զq յj քp ꭺa ꮯc ꭼe ꮋh ꭻj ꮶk ꮮl ꮇm ꮲp ꮪs ꭲt ꮩv ꮃw ꮓz
   ıi ɡg ɑa ɩi ʋv ꞁl ǀl`
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);

/** The skeleton of a text: two names with the same skeleton look alike. */
export function skeleton(text: string): string {
  let out = '';
  if (!/[^\u0000-\u007f]/.test(text)) out = text.toLowerCase();
  else for (const char of text.normalize('NFKD').toLowerCase()) out += LOOKS[char] ?? char;
  if (!/[^\u0000-\u007f]|[01|]|rn|vv/.test(out)) return out;
  return out
    .replace(/[\p{Mn}\p{Cf}]/gu, '')
    .replace(/[1|]/g, 'l')
    .replace(/0/g, 'o')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w');
}

/** Whether a letter of another script looks like a Latin one. */
export function looksLatin(char: string): boolean {
  return LOOKS[char.toLowerCase()] !== undefined;
}
