import { Box } from 'ink';
import { Line, Lines, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { formatBytes } from '../../src/text/format.ts';
import { wrap } from '../../src/text/text-width.ts';
import type { EditorRoute } from './editor-route.ts';
import { type Field, isUrl, typedValue } from './fields.ts';
import { type Suggestions, suggestionsAt } from './names.ts';
import type { Panes } from './selection.ts';
import { GENERAL_SECTION, matchingNamesText, NAMES_LOADING, noNamesText, SECTION_HINTS, storedText } from './text.ts';
import type { TreeRow } from './tree-rows.ts';
import { firstKey } from './typed.ts';

export interface FieldDetailProps {
  route: EditorRoute;
  panes: Panes;
  width: number;
  height: number;
}

/** Description, problem and typed text of the selected field or section. */
export function FieldDetail({ route, panes, width, height }: FieldDetailProps) {
  const { glyphs } = useTheme();
  const { typing, task, draft, wrong } = route;
  const { row, field } = panes;
  const ofField = route.pane === 'form' && task === 'value' ? field : null;
  const typed = typing && ofField ? { ...typing, text: typedValue(ofField, typing.text) } : typing;
  const about = aboutLines({ typing: typing !== null, draft, row, field: ofField });
  const lines = about.flatMap((span) => wrap(span.text, width).map((text): Span => ({ ...span, text })));
  // A selected suggestion replaces the typed text.
  const isChosen = route.suggestion !== null;
  const problem = typing ? (isChosen ? null : wrong) : problemOf(ofField ?? row);
  const problemLines = problem === null ? [] : wrap(`${glyphs.bad} ${problem}`, width);
  const most = Math.max(2, Math.floor(height / 2) - 1);
  const suggestions = suggestionsAt(route);
  const rest = height - 1 - (typed ? 1 : 0) - Math.min(most, problemLines.length);
  const state = suggestions ? wrap(stateOf(suggestions, glyphs).text, width).slice(0, 2) : [];
  const offered = suggestions
    ? Math.min(suggestions.names.length + state.length, Math.max(Math.min(2, rest), rest - MEANING_ROWS))
    : 0;
  return (
    <Box flexDirection="column" width={width + 2} height={height} paddingLeft={2} flexShrink={0}>
      <Line spans={[{ text: glyphs.rule.repeat(width), tone: 'dim' }]} width={width} />
      {typed && <TextField label={`${labelOf(route, panes)}:`} edit={typed} width={width} />}
      <Lines lines={problemLines.slice(0, most).map((text) => [{ text, tone: 'bad' }])} width={width} />
      {suggestions && <NameList suggestions={suggestions} state={state} width={width} height={offered} />}
      <Lines lines={lines.slice(0, Math.max(0, rest - offered)).map((span) => [span])} width={width} />
    </Box>
  );
}

/** Rows reserved for the description while suggestions are shown. */
const MEANING_ROWS = 3;

interface NameListProps {
  suggestions: Suggestions;
  state: string[];
  width: number;
  height: number;
}

function NameList({ suggestions, state, width, height }: NameListProps) {
  const { glyphs } = useTheme();
  const { tone } = stateOf(suggestions, glyphs);
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Lines lines={state.map((text) => [{ text, ...(tone && { tone }) }])} width={width} />
      <List
        items={suggestions.names}
        keyOf={({ name }) => name}
        row={({ name, size_bytes }) => [
          { text: name },
          ...(size_bytes === null ? [] : [{ text: `  ${formatBytes(size_bytes)}`, tone: 'dim' as const }]),
        ]}
        selected={suggestions.selected}
        width={width}
        height={height - state.length}
      />
    </Box>
  );
}

function stateOf({ names, state }: Suggestions, { running, caution }: Glyphs): Span {
  switch (state.state) {
    case 'asked':
      return { text: `${running} ${NAMES_LOADING}`, tone: 'dim' };
    case 'failed':
      return { text: `${caution} ${noNamesText(state.why)}`, tone: 'caution' };
    case 'known':
      return { text: matchingNamesText(names.length), tone: 'dim' };
    default:
      return state satisfies never;
  }
}

function labelOf({ task }: EditorRoute, { row, field }: Panes): string {
  if (task === 'value') return field?.label ?? '';
  if (task === 'rename') return 'New name';
  if (row.shape.kind !== 'list') return 'Name';
  return row.shape.of.kind === 'object' ? firstKey(row.shape.of) : 'New item';
}

function problemOf({ problems }: Field | TreeRow): string | null {
  const [problem] = problems;
  return problem ? [problem.message, problem.hint].filter(Boolean).join('. ') : null;
}

interface About {
  typing: boolean;
  draft: ConfigurationDraft | null;
  row: TreeRow;
  field: Field | null;
}

function aboutLines({ typing, draft, row, field }: About): Span[] {
  if (!field)
    return [
      { text: row.path.length === 0 ? GENERAL_SECTION : row.shape.description },
      ...(typing ? [] : whatToDo(row)),
    ];
  const { shape, choices } = field;
  const facts = [
    ...(shape.default === undefined ? [] : [`Default: ${String(shape.default)}.`]),
    ...(shape.required ? ['Required.'] : []),
    ...(shape.traits.unit ? [`In ${shape.traits.unit}.`] : []),
    ...(choices === null && shape.example !== undefined && !shape.traits.secret
      ? [`Such as ${[shape.example].flat().join(', ')}`]
      : []),
    ...(shape.traits.secret && isUrl(shape) ? [`Such as ${String(shape.example)}`] : []),
  ];
  return [
    { text: shape.description },
    { text: facts.join(' '), tone: 'dim' },
    ...(shape.traits.secret && field.isKnown ? [storedLine(draft, field)] : []),
  ];
}

function storedLine(draft: ConfigurationDraft | null, { path, shape }: Field): Span {
  return storedText({ isKey: path[0] === 'secret_key', isUrl: isUrl(shape), encrypts: Boolean(draft?.secretKey) });
}

function whatToDo({ shape, folded }: TreeRow): Span[] {
  const lines = {
    map: [SECTION_HINTS.map],
    list: [SECTION_HINTS.list],
    object: folded === null ? [] : [SECTION_HINTS.named],
    value: [],
  }[shape.kind];
  return lines.map((text) => ({ text, tone: 'dim' }));
}
