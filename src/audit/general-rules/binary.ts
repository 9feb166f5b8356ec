import { archiveOutside, bomb, disguise, programInBinary, textBecameBinary } from '../content/binary.ts';
import { compiledTranslation } from '../content/translations.ts';
import { EVERY, type GeneralRule, type SeeingLook } from './rule.ts';

const IN_BINARY: SeeingLook<'bytes'> = { kind: 'bytes', see: programInBinary };
const DISGUISE: SeeingLook<'bytes'> = { kind: 'bytes', see: disguise };

/** Rules on bytes: programs, packages, archives, and files that are not what their names say. */
export const BINARY_RULES: readonly GeneralRule[] = [
  {
    id: 'binary-program',
    title: 'Program in binary form',
    family: 'content',
    when: 'running or loading it',
    severity: 'suspect',
    files: EVERY,
    look: [IN_BINARY, DISGUISE],
    about: 'first bytes, or the name of bytecode and libraries',
    cases: {
      bytecode: { why: 'It cannot be reviewed, and a tool may load it instead of its source.' },
      numpy: { why: 'Python objects in it run when it is loaded.' },
      serialized: { title: 'Objects in binary form', why: 'Whoever reads the objects runs code that they name.' },
    },
    why: 'It cannot be reviewed, and is run or loaded by its name.',
    source: 'file(1)',
  },
  {
    id: 'binary-package',
    title: 'Package in binary form',
    family: 'content',
    when: 'installing it',
    severity: 'suspect',
    files: EVERY,
    look: [IN_BINARY],
    about: 'names of installers and packages',
    why: 'Installing it runs code that nobody reviewed.',
    source: 'manuals of the package managers',
  },
  {
    id: 'binary-disguised',
    title: 'Content of another type than its name says',
    family: 'content',
    when: 'opening or serving it',
    severity: 'suspect',
    files: EVERY,
    look: [DISGUISE, { kind: 'bytes', see: compiledTranslation }],
    about: 'first bytes against the name; data after the end of a picture',
    cases: {
      formula: {
        title: 'Compiled translation with code in the place of its formula',
        why: 'Some libraries give the formula for plurals to an interpreter.',
      },
      script: { title: 'Script under the name of a picture', why: 'A server or interpreter runs it.' },
      trailing: { title: 'Data after the end of a picture', why: 'No viewer shows the data.' },
    },
    why: 'Tools go by the content, users by the name.',
    source: 'file(1)',
  },
  {
    id: 'binary-outside',
    title: 'Archive with members outside of it',
    family: 'content',
    when: 'unpacking it',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'bytes', see: archiveOutside }],
    about: 'tar and zip, also in gzip: paths and links that leave the folder',
    why: 'Unpacking it writes to other folders.',
    source: 'CVE-2007-4559; Zip Slip',
  },
  {
    id: 'binary-bomb',
    title: 'Archive that unpacks to a very large size',
    family: 'content',
    when: 'tests, previews, scanners',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'bytes', see: bomb }],
    about: 'gzip and zip, over 200 times their size',
    why: 'Tests, previews and scanners unpack it.',
    source: 'CVE-2003-1564',
  },
  {
    id: 'text-nul',
    title: 'Text that became binary',
    family: 'content',
    when: 'reading or reviewing the file',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'bytes', see: textBecameBinary }],
    about: 'NUL bytes in a file that was text',
    why: 'Diffs no longer show it; shells and interpreters still run it.',
    source: 'bash(1)',
  },
];
