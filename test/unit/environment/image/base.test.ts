import { expect, it } from 'vitest';
import { debootstrapStage } from '../../../../src/environment/image/base.ts';

it("finds the stages of debootstrap's output, each once and forwards", () => {
  const lines = [
    'I: Target architecture can be executed',
    'I: Retrieving InRelease',
    'I: Retrieving Packages',
    'I: Resolving dependencies of required packages...',
    'I: Checking component main on http://deb.debian.org/debian...',
    'I: Retrieving adduser 3.134',
    'I: Validating adduser 3.134',
    'I: Chosen extractor for .deb packages: dpkg-deb',
    'I: Extracting base-files...',
    'I: Installing core packages...',
    'I: Unpacking required packages...',
    'I: Configuring required packages...',
    'I: Unpacking the base system...',
    'I: Configuring the base system...',
    'I: Base system installed successfully.',
  ];
  let stage = -1;
  const stages = lines.map((line) => {
    stage = debootstrapStage(line, stage) ?? stage;
    return stage;
  });
  expect(stages).toEqual([0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4]);
});
