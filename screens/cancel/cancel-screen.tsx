import { useStore } from 'zustand';
import { Ask } from '../../components/ask.tsx';
import { Frame, useModel } from '../app/frame.tsx';
import { BACK, HELP } from '../app/keys.ts';
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
  keys: [{ ...BACK, label: 'let it go on', help: 'let it go on' }, HELP],
};

/** Asks before a run is cancelled. */
function CancelView({ route }: { route: CancelRoute }) {
  const { runs, navigation } = useModel();
  const run = useStore(runs.store, (state) => runWithId(state.runs, route.run));
  if (!run) return null;
  return (
    <Frame screen="cancel" path={[run.target, 'cancel']}>
      <Ask
        question={`Cancel this: ${run.title}?`}
        lines={['What is half done is removed, and everything is left as it was before.']}
        options={[
          { label: 'Let it go on', value: 'stay' },
          { label: 'Cancel it', value: 'cancel' },
        ]}
        onAnswer={(answer) => {
          navigation.pop();
          if (answer === 'cancel') runs.cancel(run.id);
        }}
      />
    </Frame>
  );
}
