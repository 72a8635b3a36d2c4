import type { TextEdit } from '../../components/text-edit.ts';
import { REHEARSAL_COMMAND } from '../../src/operations/rehearse/screen-text.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { beginRehearsal } from '../commands/rehearse.ts';

declare module '../app/route.ts' {
  interface Routes {
    'rehearsal-command': RehearsalCommandRoute;
  }
}

interface RehearsalCommandRoute {
  screen: 'rehearsal-command';
  target: string;
  typing: TextEdit;
}

export const rehearsalCommandScreen: ScreenModule<RehearsalCommandRoute> = {
  id: 'rehearsal-command',
  title: 'Command of a rehearsal',
  view: RehearsalCommandView,
  keys: [
    {
      keys: ['enter'],
      label: 'rehearse',
      help: 'run the command, the file or the steps of after_load on a new branch',
      run: accept,
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is run' },
  ],
  onAccept: accept,
};

function accept(model: Model, { target, typing }: RehearsalCommandRoute): void {
  model.navigation.pop();
  beginRehearsal(model, target, typing.text.trim());
}

function RehearsalCommandView({ route }: { route: RehearsalCommandRoute }) {
  const field = { ...REHEARSAL_COMMAND, edit: route.typing };
  return <FieldFrame screen="rehearsal-command" path={[route.target, 'rehearse']} {...field} />;
}
