import { Text } from 'ink';
import type { Size } from './page.tsx';

const SMALLEST: Size = { columns: 40, rows: 10 };

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows;
}

export function TooSmall({ columns, rows }: Size) {
  return (
    <Text>
      The window is too small: {columns}×{rows}. Needed: {SMALLEST.columns}×{SMALLEST.rows}.
    </Text>
  );
}
