import { keyText } from '../../src/config/keys/keys-in-effect.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Cell } from '../../src/presentation/shapes/column.ts';
import { formatNumberOf } from '../../src/text/format.ts';

export const EDITOR_NOTICES = {
  noFields: 'This section has no values of its own. Select one of its sections',
  fixedKeys: 'Cannot add keys to this section',
  fixedName: 'This name cannot be changed',
  get removed() {
    return `Removed. Press ${keyText('undo')} to undo`;
  },
  notInFile: 'Not set in the file',
  unchanged: 'No changes to save',
  nothingToUndo: 'No changes to undo',
  nameRequired: 'Type a name',
  storageProfileRequired: 'None yet: add a storage profile first.',
};

export function savedText(file: string): string {
  return `Saved ${file}`;
}

export function undoneText(key: string): string {
  return `Undone: the change of ${key}`;
}

export function nameTakenText(name: string): string {
  return `${name} exists already`;
}

export const UNSAVED = {
  question: 'The changes are not saved.',
  options: [
    { label: 'Continue editing', value: 'stay' },
    { label: 'Save and leave', value: 'save' },
    { label: 'Discard the changes', value: 'leave' },
  ],
};

export function conflictQuestion(file: string) {
  return {
    path: ['configuration', 'conflict'],
    question: 'Another program has changed the file.',
    lines: [file, 'Nothing was written.'],
    options: [
      { label: 'Continue editing without saving', value: 'stay' },
      { label: 'Apply my changes to the new version', value: 'redo' },
      { label: 'Read the file again and discard my changes', value: 'reload' },
    ],
  };
}

/** `2 changes not saved`, `1 problem` */
export function draftState({ changes, problems, outdated }: ConfigurationDraft): Cell[] {
  return [
    ...(outdated ? [{ text: 'changed by another program  ', tone: 'caution' as const }] : []),
    ...(changes.length === 0
      ? []
      : [{ text: `${formatNumberOf(changes.length, 'change')} not saved  `, tone: 'caution' as const }]),
    problems.length === 0
      ? { text: 'no problems', tone: 'dim' }
      : { text: formatNumberOf(problems.length, 'problem'), tone: 'bad' },
  ];
}

export const GENERAL_SECTION = 'Values outside of all sections.';

/** Describes the keys at a section, by its kind. */
export const SECTION_HINTS = {
  get map() {
    return `Press ${keyText('new')} to add one by its name.`;
  },
  get list() {
    return `Press ${keyText('new')} to add an item.`;
  },
  get named() {
    return `Press ${keyText('rename')} to rename it, Space to show or hide its sections.`;
  },
};

/** Describes how a typed secret is stored. */
export function storedText({ isKey, isUrl, encrypts }: { isKey: boolean; isUrl: boolean; encrypts: boolean }): Cell {
  if (isKey) return { text: 'Type the whole value again. It is stored as it is.', tone: 'dim' };
  if (!encrypts) return { text: 'Stored in plain text: there is no secret_key to encrypt it.', tone: 'caution' };
  return { text: isUrl ? 'The password is stored encrypted.' : 'Stored encrypted.', tone: 'dim' };
}

export const NAMES_LOADING = 'Listing the existing names';

export function noNamesText(reason: string): string {
  return `No names to choose from: ${reason}`;
}

export function matchingNamesText(count: number): string {
  return count === 0 ? 'No existing name matches.' : `${formatNumberOf(count, 'name')}: ↓ to choose, Tab to complete.`;
}
