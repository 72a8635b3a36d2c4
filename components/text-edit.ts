import { graphemes } from '../src/text/text-width.ts';

/** A line of text with a cursor, which counts graphemes, so that an emoji stays whole. */
export interface TextEdit {
  text: string;
  cursor: number;
  /** A default value, which the first typed character replaces. */
  isDefault?: boolean;
}

export function textEdit(text = ''): TextEdit {
  return { text, cursor: graphemes(text).length };
}

export function defaultText(text: string): TextEdit {
  return text === '' ? textEdit() : { ...textEdit(text), isDefault: true };
}

/** The text after a key; `null` when the key does not edit text. */
export function editText(edit: TextEdit, key: string): TextEdit | null {
  const { text, cursor } = edit;
  if (edit.isDefault && REMOVES.has(key)) return textEdit();
  const characters = graphemes(text);
  const before = characters.slice(0, cursor);
  const after = characters.slice(cursor);
  const edits: Record<string, () => TextEdit> = {
    left: () => ({ text, cursor: Math.max(0, cursor - 1) }),
    right: () => ({ text, cursor: Math.min(characters.length, cursor + 1) }),
    home: () => ({ text, cursor: 0 }),
    end: () => ({ text, cursor: characters.length }),
    backspace: () => edited(before.slice(0, -1), after),
    delete: () => edited(before, after.slice(1)),
    'ctrl+a': () => ({ text, cursor: 0 }),
    'ctrl+e': () => ({ text, cursor: characters.length }),
    'ctrl+u': () => edited([], after),
    'ctrl+k': () => edited(before, []),
    'ctrl+w': () => edited(graphemes(before.join('').replace(/\S+\s*$/, '')), after),
    space: () => insertText(edit, ' '),
  };
  const change = edits[key];
  if (change) return change();
  return graphemes(key).length === 1 ? insertText(edit, key) : null;
}

const REMOVES = new Set(['backspace', 'delete', 'ctrl+w']);

export function pasteText(edit: TextEdit, pasted: string): TextEdit {
  return insertText(edit, pasted.trim().replace(/\s*[\r\n]+\s*/g, ' '));
}

export function insertText({ text, cursor, isDefault }: TextEdit, inserted: string): TextEdit {
  if (isDefault) return textEdit(inserted);
  const characters = graphemes(text);
  const head = characters.slice(0, cursor).join('') + inserted;
  return { text: head + characters.slice(cursor).join(''), cursor: graphemes(head).length };
}

function edited(before: string[], after: string[]): TextEdit {
  return { text: [...before, ...after].join(''), cursor: before.length };
}
