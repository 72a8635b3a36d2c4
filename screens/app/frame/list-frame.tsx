import { Box } from 'ink';
import { FilterLine } from '../../../components/filter-line.tsx';
import { Line, type Span } from '../../../components/line.tsx';
import { ListView, type ListViewProps } from '../../../components/list-view.tsx';
import { TextField, type TextFieldProps } from '../../../components/text-field.tsx';
import type { ListState } from '../../../src/state/list.ts';
import { positionIn } from '../lists/in-view.ts';
import { screenOf } from '../model.ts';
import { type Route, typingAt } from '../route.ts';
import { Frame, type FrameProps, useModel, useRoom } from './frame.tsx';

interface ListFrameProps<Row>
  extends Pick<FrameProps, 'path' | 'aside'>,
    Pick<ListViewProps<Row>, 'columns' | 'rows' | 'empty' | 'detail'> {
  route: Extract<Route, { list: ListState }>;
  /** The text that is typed filters the list. */
  filtered?: boolean;
  above?: Span[];
  /** Below the list, while a text is typed that does not filter it. */
  field?: Pick<TextFieldProps, 'label' | 'placeholder'>;
}

/** Rows of the text field and the line above it. */
const FIELD_ROWS = 2;

/** The page of a screen that lists the rows of its `rows()`. */
export function ListFrame<Row>(props: ListFrameProps<Row>) {
  const { route, path, aside = [], filtered = false, above, field, ...view } = props;
  const model = useModel();
  const { columns: width, height, wide } = useRoom();
  const { list } = route;
  const inView = screenOf(model, route).rows?.(model, route) ?? { ids: [] };
  const typing = typingAt(route);
  const filtering = filtered && (typing !== null || list.filter !== '');
  const below = typing && field ? FIELD_ROWS : 0;
  return (
    <Frame path={path} aside={aside}>
      {filtering && <FilterLine typing={typing} filter={list.filter} width={width} />}
      {above && <Line spans={above} width={width} />}
      <ListView
        {...view}
        keyOf={(_, index) => inView.ids[index] ?? ''}
        selected={positionIn(inView, list.selected)}
        width={width}
        height={height - below - (filtering ? 1 : 0) - (above ? 1 : 0)}
        error={'error' in route ? route.error : null}
        wide={wide}
      />
      {typing && field && (
        <Box flexDirection="column" flexShrink={0} paddingLeft={2}>
          <Line spans={[]} width={width - 2} />
          <TextField {...field} edit={typing} width={width - 4} />
        </Box>
      )}
    </Frame>
  );
}
