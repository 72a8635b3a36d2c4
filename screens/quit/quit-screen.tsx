import { useStore } from 'zustand';
import { Ask } from '../ask.tsx';
import { Frame, useModel } from '../frame.tsx';
import { answerQuit } from './actions.ts';

/** Leaving while work is going on: wait for it, cancel it, or stay. */
export function QuitScreen() {
  const model = useModel();
  const running = useStore(model.runs.store, (state) => state.runs).filter(({ state }) => state.status === 'running');
  return (
    <Frame screen="quit" path={['quit']}>
      <Ask
        question={running.length === 1 ? 'Work is going on:' : `${running.length} pieces of work are going on:`}
        lines={running.map(({ title }) => title)}
        options={[
          { label: 'Stay here', value: 'stay' },
          { label: 'Wait until it is done, then leave', value: 'wait' },
          { label: 'Cancel it, put everything back as it was, and leave', value: 'cancel' },
        ]}
        onAnswer={(answer) => answerQuit(model, answer)}
      />
    </Frame>
  );
}
