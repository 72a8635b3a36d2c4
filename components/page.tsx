import { Box } from 'ink';
import type { ReactNode } from 'react';
import { cellWidth } from '../src/text/text-width.ts';
import { KeyBar, type KeyHint } from './key-bar.tsx';
import { cutSpans, Line, type Span } from './line.tsx';
import { useTheme } from './theme.ts';

export interface Size {
  columns: number;
  rows: number;
}

export interface PageProps {
  size: Size;
  path: string[];
  aside?: Span[];
  status: Span[];
  hints: KeyHint[];
  children: ReactNode;
}

/** Lines above the content: title and rule. */
export const PAGE_HEAD = 2;

/** Lines of a page besides the content: title, rule, status, keys. */
export const PAGE_CHROME = 4;

export function Page({ size, path, aside = [], status, hints, children }: PageProps) {
  const { glyphs } = useTheme();
  const { columns, rows } = size;
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Line
        spans={titleLine({ path, aside, columns, separator: glyphs.pointer, ellipsis: glyphs.ellipsis })}
        width={columns}
      />
      <Line spans={[{ text: glyphs.rule.repeat(columns), tone: 'dim' }]} width={columns} />
      <Box flexDirection="column" height={Math.max(0, rows - PAGE_CHROME)} width={columns} overflow="hidden">
        {children}
      </Box>
      <Line spans={[{ text: ' ' }, ...status]} width={columns} />
      <KeyBar hints={hints} width={columns} />
    </Box>
  );
}

interface TitleLine {
  path: string[];
  aside: Span[];
  columns: number;
  separator: string;
  ellipsis: string;
}

/** Where room is short the path is cut: the right end changes more often. */
function titleLine({ path, aside, columns, separator, ellipsis }: TitleLine): Span[] {
  const right = aside.reduce((sum, { text }) => sum + cellWidth(text), 0);
  const way = path.flatMap((name, index): Span[] => [
    { text: index === 0 ? ' ' : ` ${separator} `, tone: 'dim' },
    { text: name, tone: index === path.length - 1 ? 'strong' : 'plain' },
  ]);
  const left = cutSpans(way, columns - right - (right > 0 ? 3 : 1), ellipsis);
  const used = left.reduce((sum, { text }) => sum + cellWidth(text), 0);
  return [...left, { text: ' '.repeat(Math.max(0, columns - used - right - 1)) }, ...aside];
}
