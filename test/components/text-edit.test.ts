import { describe, expect, test } from 'vitest';
import { defaultText, editText, insertText, pasteText, type TextEdit, textEdit } from '../../components/text-edit.ts';

describe('typed text', () => {
  test('inserts characters, spaces and pasted text at the cursor', () => {
    expect(keyed(textEdit('ab'), ['left', 'x', 'space'])).toEqual({ text: 'ax b', cursor: 3 });
    expect(pasteText({ text: 'ab', cursor: 1 }, ' one\r\n two ')).toEqual({ text: 'aone twob', cursor: 8 });
  });

  test('loses a whole emoji by one Backspace', () => {
    expect(keyed(textEdit('a👨‍👩‍👧'), ['backspace'])).toEqual({ text: 'a', cursor: 1 });
    expect(keyed(textEdit('🏳️‍🌈b'), ['home', 'delete'])).toEqual({ text: 'b', cursor: 0 });
  });

  test('is cleared by words, to the beginning and to the end', () => {
    expect(keyed(textEdit('one two '), ['ctrl+w'])).toEqual({ text: 'one ', cursor: 4 });
    expect(keyed(textEdit('one two'), ['left', 'ctrl+u'])).toEqual({ text: 'o', cursor: 0 });
    expect(keyed(textEdit('one two'), ['home', 'right', 'ctrl+k'])).toEqual({ text: 'o', cursor: 1 });
  });

  test('a default value is replaced by the first typed character, and stays where the cursor is moved first', () => {
    const name = defaultText('app');
    expect(editText(name, 'c')).toEqual(textEdit('c'));
    expect(insertText(name, 'chinook')).toEqual(textEdit('chinook'));
    expect(editText(name, 'backspace')).toEqual(textEdit(''));
    const moved = editText(name, 'end');
    expect(moved && editText(moved, '2')).toEqual(textEdit('app2'));
  });

  test('leaves keys that mean nothing to it to others', () => {
    expect(editText(textEdit('a'), 'pageup')).toBeNull();
    expect(editText(textEdit('a'), 'ctrl+r')).toBeNull();
  });
});

function keyed(edit: TextEdit, keys: string[]): TextEdit {
  return keys.reduce((text, key) => editText(text, key) ?? text, edit);
}
