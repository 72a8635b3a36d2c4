import { Line } from './line.tsx';
import type { TextEdit } from './text-edit.ts';
import { TextField } from './text-field.tsx';

export function FilterLine({ typing, filter, width }: { typing: TextEdit | null; filter: string; width: number }) {
  if (typing) return <TextField label="  /" edit={typing} width={width} placeholder="filter…" />;
  const spans = [{ text: '  / ', tone: 'accent' as const }, { text: filter }];
  return <Line spans={spans} width={width} />;
}
