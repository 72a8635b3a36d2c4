import { Box } from 'ink';
import { Line } from '../../../components/line.tsx';
import type { TextEdit } from '../../../components/text-edit.ts';
import { TextField, type TextFieldProps } from '../../../components/text-field.tsx';
import { BACK } from '../keys.ts';
import type { KeyBinding, Model, ScreenModule } from '../model.ts';
import type { Route } from '../route.ts';
import { Frame, type FrameProps, useRoom } from './frame.tsx';

type FieldRoute = Extract<Route, { typing: TextEdit }>;

interface FieldScreen<Own extends FieldRoute> extends Pick<ScreenModule<Own>, 'id' | 'title'> {
  /** Words of Enter. */
  words: Pick<KeyBinding, 'help'> & { label: string };
  /** Done where one leaves: `back; nothing is saved`. */
  nothing: 'created' | 'saved' | 'run' | 'written' | 'changed';
  accept: (model: Model, route: Own) => void;
  field: (route: Own) => Omit<TextFieldProps, 'edit' | 'width'> & Pick<FrameProps, 'path'> & { about: string };
  keys?: KeyBinding<Own>[];
  onComplete?: (model: Model, route: Own) => void;
}

/** A screen that asks for one text. */
export function fieldScreen<Own extends FieldRoute>(screen: FieldScreen<Own>): ScreenModule<Own> {
  const { id, title, words, nothing, accept, field, keys = [], onComplete } = screen;
  return {
    ...{ id, title, onAccept: accept, ...(onComplete && { onComplete }) },
    view: ({ route }) => <FieldView screen={id} edit={route.typing} {...field(route)} />,
    keys: [
      { keys: ['enter'], ...words, run: accept, stays: true, palette: false },
      ...keys,
      { ...BACK, keys: ['esc'], label: 'cancel', help: `back; nothing is ${nothing}` },
    ],
  };
}

type FieldViewProps = Omit<TextFieldProps, 'width'> & Pick<FrameProps, 'screen' | 'path'> & { about: string };

function FieldView({ screen, path, about, ...field }: FieldViewProps) {
  const { columns } = useRoom();
  return (
    <Frame screen={screen} path={path}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: about, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField {...field} width={columns - 4} />
      </Box>
    </Frame>
  );
}
