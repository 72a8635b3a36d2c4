import { useStore } from 'zustand';
import { Ask } from '../../components/ask.tsx';
import { isLive } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { quitQuestion } from '../app/frame/run-text.ts';
import { BACK, CHOOSING, HELP } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { answerQuit } from '../commands/quit.ts';

export const quitScreen: ScreenModule<{ screen: 'quit' }> = {
  title: 'Quitting while runs are in progress',
  view: QuitView,
  keys: [...CHOOSING, { ...BACK, label: 'stay', help: 'stay' }, HELP],
  listsRuns: true,
};

function QuitView() {
  const model = useModel();
  const { columns, height } = useRoom();
  const live = useStore(model.runs.store, (state) => state.runs).filter(isLive);
  return (
    <Frame path={['quit']}>
      <Ask {...quitQuestion(live)} width={columns} height={height} onAnswer={(answer) => answerQuit(model, answer)} />
    </Frame>
  );
}
