import { useStore } from 'zustand';
import { Ask } from '../../components/ask.tsx';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { cancelQuestion } from '../app/frame/run-text.ts';
import { BACK, CHOOSING, HELP } from '../app/keys.ts';
import { runWithId, type ScreenModule } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    cancel: CancelRoute;
  }
}

interface CancelRoute {
  screen: 'cancel';
  run: string;
}

export const cancelScreen: ScreenModule<CancelRoute> = {
  id: 'cancel',
  title: 'Cancelling',
  view: CancelView,
  keys: [...CHOOSING, { ...BACK, label: 'continue', help: 'back; the run continues' }, HELP],
};

/** Asks before a run is cancelled. */
function CancelView({ route }: { route: CancelRoute }) {
  const { runs, navigation } = useModel();
  const { columns, height } = useRoom();
  const run = useStore(runs.store, (state) => runWithId(state.runs, route.run));
  if (!run) return null;
  return (
    <Frame screen="cancel" path={[run.target, 'cancel']}>
      <Ask
        {...cancelQuestion(run)}
        width={columns}
        height={height}
        options={[
          { label: 'Continue', value: 'stay' },
          { label: 'Cancel the run', value: 'cancel' },
        ]}
        onAnswer={(answer) => {
          navigation.pop();
          if (answer === 'cancel') runs.cancel(run.id);
        }}
      />
    </Frame>
  );
}
