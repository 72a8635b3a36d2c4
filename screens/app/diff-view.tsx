import { Box } from 'ink';
import { useMemo } from 'react';
import { Line, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import type { DiffLine } from '../../src/config/edit/diff-lines.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import { hideSecrets, type VisibleValues, visibleValues } from '../../src/config/secrets/hide-secrets.ts';
import type { ListState } from '../../src/state/list.ts';
import { positionIn, rowsByIndex } from './in-view.ts';

export interface DiffViewProps {
  change: { file: string; base: string; text: string; shape: Shape };
  lines: DiffLine[];
  list: ListState;
  width: number;
  height: number;
}

/** The changes of a file, secrets masked. */
export function DiffView({ change, lines, list, width, height }: DiffViewProps) {
  const { file, base, text, shape } = change;
  const texts = useMemo(() => {
    const visible = visibleValues(shape);
    return { removed: masked(base, visible), added: masked(text, visible) };
  }, [base, text, shape]);
  return (
    <Box flexDirection="column">
      <Line spans={[{ text: `  ${file}`, tone: 'dim' }]} width={width} />
      <List
        items={[...lines.entries()]}
        keyOf={([index]) => String(index)}
        row={([, line]) => diffSpans(line, texts)}
        selected={positionIn(rowsByIndex(lines), list.selected)}
        width={width}
        height={Math.max(1, height - 1)}
      />
    </Box>
  );
}

type LineText = (index: number) => string;

function masked(text: string, visible: VisibleValues): LineText {
  const lines = text.split(/\r?\n/);
  return (index) => hideSecrets(lines, { index, offset: 0, visible }).text;
}

function diffSpans({ kind, number }: DiffLine, { removed, added }: Record<'removed' | 'added', LineText>): Span[] {
  const looks = {
    same: { sign: ' ', tone: 'dim', text: added },
    added: { sign: '+', tone: 'good', text: added },
    removed: { sign: '-', tone: 'bad', text: removed },
  } as const;
  const { sign, tone, text } = looks[kind];
  return [
    { text: `${String(number + 1).padStart(4)} `, tone: 'dim' },
    { text: `${sign} ${text(number)}`, tone },
  ];
}
