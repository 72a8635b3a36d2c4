import { useStore } from 'zustand';
import { screenOf } from '../model.ts';
import type { Route } from '../route.ts';
import { Frame, useModel, useRoom } from './frame.tsx';
import { PanesFrame, usePanes } from './panes-frame.tsx';

/** The screen of a list: beside other panes where the window is wide, else alone. */
export function PaneView({ route }: { route: Route }) {
  const panes = usePanes();
  return panes ? <PanesFrame {...panes} /> : <PaneAlone route={route} />;
}

function PaneAlone({ route }: { route: Route }) {
  const model = useModel();
  useStore(model.targets);
  useStore(model.snapshots);
  const { columns: width, height } = useRoom();
  const { pane } = screenOf(model, route);
  if (!pane) return null;
  const { view: View } = pane;
  return (
    <Frame path={pane.path(route)} aside={pane.aside(model, route, { brief: false })}>
      <View route={route} width={width} height={height} isActive alone />
    </Frame>
  );
}
