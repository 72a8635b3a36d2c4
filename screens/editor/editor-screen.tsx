import { Box } from 'ink';
import { Empty, Failure } from '../../components/empty.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { List, ViewportContext } from '../../components/list.tsx';
import { useTheme } from '../../components/theme.ts';
import { dotted } from '../../src/config/tree.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { ListState, Move } from '../../src/state/list.ts';
import { cellWidth, fitCells } from '../../src/text/text-width.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import type { Model, ScreenModule } from '../app/model.ts';
import { movedIn } from '../app/navigate.ts';
import { LOADING } from '../app/text.ts';
import { leaveEditor } from './actions.ts';
import type { EditorRoute } from './editor-route.ts';
import { FieldDetail } from './field-detail.tsx';
import { type Field, shownValue } from './fields.ts';
import { EDITOR_KEYS } from './keys.ts';
import { completeName, moveSuggestion, suggestionsAt } from './names.ts';
import { type Panes, panesOf } from './selection.ts';
import { draftState } from './text.ts';
import type { TreeRow } from './tree-rows.ts';
import { acceptField, changeTyped, stopTyping } from './typed.ts';

export const editorScreen: ScreenModule<EditorRoute> = {
  title: 'Editing the configuration',
  view: EditorView,
  keys: EDITOR_KEYS,
  rows: (_, route) => ({ ids: (panesOf(route)?.rows ?? []).map(({ id }) => id) }),
  onMove: moveInEditor,
  onBack: leaveEditor,
  onText: changeTyped,
  onAccept: acceptField,
  onLeave: stopTyping,
  onComplete: completeName,
};

function moveInEditor(model: Model, route: EditorRoute, move: Move): void {
  if (route.typing) {
    moveSuggestion(model, route, move);
    return;
  }
  const moved = (list: ListState, items: { id: string }[]): ListState =>
    movedIn(model, { list, rows: { ids: items.map(({ id }) => id) }, move });
  const { rows = [], fields = [] } = panesOf(route) ?? {};
  model.navigation.replace(
    route.pane === 'form'
      ? { ...route, fields: moved(route.fields, fields) }
      : { ...route, list: moved(route.list, rows) },
  );
}

/** Rows of the pane below the fields. */
const DETAIL_ROWS = { least: 7, ample: 11 };

/** Sections on the left, a form for the selected section on the right. */
function EditorView({ route }: { route: EditorRoute }) {
  const { columns, height, wide } = useRoom();
  const panes = panesOf(route);
  const { draft, error } = route;
  if (!draft || !panes) {
    return (
      <Frame path={['configuration']}>
        {error ? <Failure error={error} width={columns} /> : <Empty lines={LOADING.editor} />}
      </Frame>
    );
  }
  const treeWidth = wide ? Math.min(40, Math.floor(columns * 0.4)) : columns;
  const isInForm = route.pane === 'form';
  return (
    <Frame path={['configuration', ...titleOf(panes, wide)]} aside={draftState(draft)}>
      <Box flexDirection="row" height={height}>
        {(wide || !isInForm) && <Tree panes={panes} isActive={!isInForm} width={treeWidth} height={height} />}
        {(wide || isInForm) && (
          // A click means a line of the tree.
          <ViewportContext value={null}>
            <Form route={route} panes={panes} width={wide ? columns - treeWidth : columns} height={height} />
          </ViewportContext>
        )}
      </Box>
    </Frame>
  );
}

function titleOf({ row: { path, label } }: Panes, wide: boolean): string[] {
  if (path.length === 0) return [];
  return wide ? [...path.slice(0, -1).map(String), label] : [label];
}

interface PaneProps {
  panes: Panes;
  width: number;
  height: number;
}

function Tree({ panes: { rows, row }, isActive, width, height }: PaneProps & { isActive: boolean }) {
  const { glyphs } = useTheme();
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      <Line spans={[{ text: '  Sections', tone: isActive ? 'accent' : 'dim' }]} width={width - 1} />
      <List
        items={rows}
        keyOf={({ id }) => id}
        row={(item) => treeSpans(item, glyphs)}
        selected={rows.indexOf(row)}
        isActive={isActive}
        width={width - 1}
        height={Math.max(1, height - 1)}
      />
    </Box>
  );
}

function treeSpans({ label, depth, folded, isSet, problems }: TreeRow, { bad, caution }: Glyphs): Span[] {
  const mark = folded === null ? '' : folded ? '+ ' : '- ';
  const isWrong = problems.some(({ severity }) => severity === 'error');
  return [
    { text: '  '.repeat(depth) },
    { text: mark, tone: 'dim' },
    { text: label, tone: isSet ? 'plain' : 'dim' },
    ...(problems.length === 0
      ? []
      : [{ text: ` ${isWrong ? bad : caution}`, tone: isWrong ? 'bad' : 'caution' } as const]),
  ];
}

function Form({ route, panes, width, height }: PaneProps & { route: EditorRoute }) {
  const { row, fields, field } = panes;
  const isActive = route.pane === 'form';
  const labelWidth = fields.reduce((widest, { label }) => Math.max(widest, cellWidth(label)), 0) + 2;
  const { glyphs } = useTheme();
  const detailed = detailRows(route, height);
  const listed = Math.max(1, height - 1 - detailed);
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      <Line
        spans={[{ text: `  ${dotted(row.path) || 'general'}`, tone: isActive ? 'accent' : 'dim' }]}
        width={width - 1}
      />
      <List
        items={fields}
        keyOf={({ id }) => id}
        row={(item) => fieldSpans(item, labelWidth, glyphs)}
        selected={isActive && route.task !== 'add' && field ? fields.indexOf(field) : -1}
        isActive={route.typing === null}
        width={width - 1}
        height={listed}
      />
      <FieldDetail route={route} panes={panes} width={width - 3} height={detailed} />
    </Box>
  );
}

/** Suggestions get more rows. In a low window the fields keep half of them, or one while a text is typed. */
function detailRows(route: EditorRoute, height: number): number {
  const most = route.typing ? height - 2 : Math.floor(height / 2);
  const wanted = suggestionsAt(route) ? Math.floor(height * 0.6) : height >= 30 ? DETAIL_ROWS.ample : 0;
  return Math.min(most, Math.max(DETAIL_ROWS.least, wanted));
}

function fieldSpans(field: Field, labelWidth: number, { bad, caution }: Glyphs): Span[] {
  const { label, value, shape, problems, variable } = field;
  const unset = shape.default === undefined ? 'not set' : `${String(shape.default)} (default)`;
  const [problem] = problems;
  const isWrong = problem?.severity === 'error';
  return [
    { text: fitCells(label, labelWidth) },
    value === undefined || value === null ? { text: unset, tone: 'dim' } : { text: shownValue(field), tone: 'strong' },
    ...(variable === null ? [] : [{ text: `  ${variable} wins`, tone: 'caution' } as const]),
    ...(problem ? [{ text: ` ${isWrong ? bad : caution}`, tone: isWrong ? 'bad' : 'caution' } as const] : []),
  ];
}
