import { Line } from './line.tsx';
import type { TextEdit } from './text-edit.ts';
import { TextField } from './text-field.tsx';

export interface FilterLineProps {
  typing: TextEdit | null;
  filter: string;
  width: number;
}

export function FilterLine({ typing, filter, width }: FilterLineProps) {
  if (typing) return <TextField label="  /" edit={typing} width={width} placeholder="filter…" />;
  const spans = [{ text: '  / ', tone: 'accent' as const }, { text: filter }];
  return <Line spans={spans} width={width} />;
}
