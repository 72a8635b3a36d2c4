import { Box } from 'ink';
import { useMemo } from 'react';
import { Lines, type Span } from '../../../components/line.tsx';
import { List } from '../../../components/list.tsx';
import type { DiffLine } from '../../../src/config/edit/diff-lines.ts';
import type { Shape } from '../../../src/config/schema/shape.ts';
import { hideSecrets, visibleValues } from '../../../src/config/secrets/hide-secrets.ts';
import type { ListState } from '../../../src/state/list.ts';
import { positionIn, rowsByIndex } from '../lists/in-view.ts';
import { useRoom } from './frame.tsx';

export interface DiffViewProps {
  change: { before: string; after: string /** Of a configuration, whose secrets are masked. */; shape?: Shape };
  /** About the change, in view above it. */
  above: Span[][];
  lines: DiffLine[];
  list: ListState;
}

/** A change of a file, on the whole page. */
export function DiffView({ change: { before, after, shape }, above, lines, list }: DiffViewProps) {
  const { columns: width, height } = useRoom();
  const texts = useMemo(
    () => ({ before: linesOf(before, shape), after: linesOf(after, shape) }),
    [before, after, shape],
  );
  return (
    <Box flexDirection="column">
      <Lines lines={above} width={width} />
      <List
        items={lines}
        row={({ kind, number }): Span[] => {
          const { sign, tone, side } = SIGNS[kind];
          return [
            { text: `${String(number + 1).padStart(4)} `, tone: 'dim' },
            { text: `${sign} ${texts[side](number)}`, tone },
          ];
        }}
        selected={positionIn(rowsByIndex(lines), list.selected)}
        width={width}
        height={Math.max(1, height - above.length)}
      />
    </Box>
  );
}

const SIGNS = {
  same: { sign: ' ', tone: 'dim', side: 'after' },
  added: { sign: '+', tone: 'good', side: 'after' },
  removed: { sign: '-', tone: 'bad', side: 'before' },
} as const;

function linesOf(text: string, shape: Shape | undefined): (index: number) => string {
  const lines = text.split(/\r?\n/);
  if (!shape) return (index) => lines[index] ?? '';
  const visible = visibleValues(shape);
  return (index) => hideSecrets(lines, { index, offset: 0, visible }).text;
}
