import { Text } from 'ink';
import { printable } from '../src/text/printable.ts';
import { cellWidth, graphemes } from '../src/text/text-width.ts';
import type { TextEdit } from './text-edit.ts';
import { useTheme } from './theme.ts';

export interface TextFieldProps {
  label: string;
  edit: TextEdit;
  width: number;
  placeholder?: string;
}

export function TextField({ label, edit, width, placeholder = '' }: TextFieldProps) {
  const { tones } = useTheme();
  const room = Math.max(1, width - cellWidth(label) - 1);
  const { before, under, after } = visiblePart({ ...edit, text: printable(edit.text) }, room);
  return (
    <Text wrap="truncate">
      <Text {...tones.accent}>{printable(label)} </Text>
      {edit.isDefault ? <Text {...tones.dim}>{before}</Text> : before}
      <Text inverse>{under}</Text>
      {edit.text === '' ? <Text {...tones.dim}>{placeholder}</Text> : after}
    </Text>
  );
}

function visiblePart({ text, cursor }: TextEdit, room: number) {
  const characters = graphemes(text);
  const under = characters[cursor] ?? ' ';
  let start = cursor;
  let used = cellWidth(under);
  while (start > 0 && used + cellWidth(characters[start - 1] ?? '') <= room) {
    start -= 1;
    used += cellWidth(characters[start] ?? '');
  }
  let end = cursor + 1;
  while (end < characters.length && used + cellWidth(characters[end] ?? '') <= room) {
    used += cellWidth(characters[end] ?? '');
    end += 1;
  }
  return {
    before: characters.slice(start, cursor).join(''),
    under,
    after: characters.slice(cursor + 1, end).join(''),
  };
}
