import { readStructure } from '../formats/structured.ts';
import { onlyHarmlessKeys, onlyLines } from '../judges/harmless-change.ts';
import type { HarmlessChange } from '../judges/rule.ts';

/** Where Visual Studio Code looks for headers, what it offers to install, and which ports it shows. */
export const HARMLESS_IN_VSCODE: readonly HarmlessChange[] = [
  {
    files: ['.vscode/c_cpp_properties.json'],
    proves: onlyHarmlessKeys('json', {
      harmless: {
        switch: ['version'],
        word: ['configurations.{name,cStandard,cppStandard,intelliSenseMode}'],
        // The editor only looks for headers there.
        matching:
          /^configurations\[\]\.(defines\[\]=\w+(=[\w.]*)?|includePath\[\]=(?!.*\.\.)(\$\{workspaceFolder\}(\/[\w.*-]+)*|\/usr\/(local\/)?include))$/,
      },
    }),
  },
  {
    files: ['.vscode/extensions.json'],
    proves: () => false,
    // A list of what the editor offers to install is shorter; what it must not offer is another list.
    provesDeletion: onlyRecommends,
  },
  {
    files: ['.gitpod.y{,a}ml'],
    proves: onlyHarmlessKeys('yaml', {
      harmless: { matching: /^ports\[\]\.(port=\d{1,5}|onOpen=(ignore|notify))$/ },
      lines: /^\s*(- )?(port|onOpen): \w+$/,
    }),
  },
];

/** How Fleet shows a text. */
export const HARMLESS_IN_FLEET: HarmlessChange = {
  files: ['.fleet/settings.json'],
  proves: onlyHarmlessKeys('json', {
    harmless: { word: ['theme'], switch: ['editor.{fontSize,lineHeight,tabSize,showLineNumbers,wordWrap}'] },
  }),
};

/** The release of Xcode that last wrote a scheme. */
export const HARMLESS_IN_XCODE: HarmlessChange = {
  files: ['*.xcscheme'],
  proves: onlyLines(/^\s*(LastUpgradeVersion|version)\s*=\s*"[\d.]{1,8}">?$/),
};

/** Whether a file recommends extensions and does nothing else. */
function onlyRecommends(before: string): boolean {
  const { leaves, duplicates } = readStructure(before, 'jsonc', 'x.json') ?? { leaves: [], duplicates: [''] };
  return duplicates.length === 0 && leaves.every(({ key }) => key === 'recommendations[]');
}
