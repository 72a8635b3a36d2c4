import { useStore } from 'zustand';
import { Ask } from '../../components/ask.tsx';
import { isLive, type Run } from '../../src/state/runs.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { Frame, useModel } from '../app/frame.tsx';
import { BACK, HELP } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { answerQuit } from './actions.ts';

declare module '../app/route.ts' {
  interface Routes {
    quit: { screen: 'quit' };
  }
}

export const quitScreen: ScreenModule<{ screen: 'quit' }> = {
  id: 'quit',
  title: 'Leaving while work is going on',
  view: QuitView,
  keys: [{ ...BACK, label: 'stay', help: 'stay here' }, HELP],
  listsRuns: true,
};

function QuitView() {
  const model = useModel();
  const live = useStore(model.runs.store, (state) => state.runs).filter(isLive);
  const one = live.length === 1;
  return (
    <Frame screen="quit" path={['quit']}>
      <Ask
        question={one ? 'Work is going on:' : `${formatNumberOf(live.length, 'piece')} of work are not done:`}
        lines={live.map(lineOf)}
        options={[
          { label: 'Stay here', value: 'stay' },
          {
            label: one ? 'Wait until it is done, then leave' : 'Wait until all of it is done, then leave',
            value: 'wait',
          },
          { label: `Cancel ${one ? 'it' : 'all of it'}, put things back, and leave`, value: 'cancel' },
        ]}
        onAnswer={(answer) => answerQuit(model, answer)}
      />
    </Frame>
  );
}

function lineOf({ title, state }: Run): string {
  return state.status === 'waiting' ? `${title} (waiting)` : title;
}
