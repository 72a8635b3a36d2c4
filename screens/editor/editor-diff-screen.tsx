import { Box } from 'ink';
import { useMemo } from 'react';
import { Line, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { formatNumberOf } from '../../src/amounts.ts';
import type { DiffLine } from '../../src/config/edit/diff-lines.ts';
import { hideSecrets, type VisibleValues, visibleValues } from '../../src/config/hide-secrets.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { Frame, useRoom } from '../frame.tsx';
import type { EditorDiffPlace } from '../place.ts';

/** What saving would change in the file, secrets masked. */
export function EditorDiffScreen({ place }: { place: EditorDiffPlace }) {
  const { columns, height } = useRoom();
  const { draft, lines, list } = place;
  const texts = useMemo(() => {
    const visible = visibleValues(draft.shape);
    return { removed: masked(draft.base, visible), added: masked(draft.text, visible) };
  }, [draft]);
  const errors = draft.problems.filter(({ severity }) => severity === 'error').length;
  const selected = selectedIndex(
    lines.map((_, index) => String(index)),
    list.selected,
  );
  return (
    <Frame
      screen="editor-diff"
      path={['configuration', 'save']}
      aside={errors === 0 ? [] : [{ text: `${formatNumberOf(errors, 'error')} in it`, tone: 'bad' }]}
    >
      <Line spans={[{ text: `  ${draft.file}`, tone: 'dim' }]} width={columns} />
      <Box flexDirection="column">
        <List
          items={[...lines.entries()]}
          keyOf={([index]) => String(index)}
          row={([, line]) => diffSpans(line, texts)}
          selected={selected}
          width={columns}
          height={Math.max(1, height - 1)}
        />
      </Box>
    </Frame>
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
