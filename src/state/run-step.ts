import type { Progress } from './progress.ts';

export interface RunStep {
  step: string;
  label: string;
  state: 'running' | 'done' | 'skipped' | 'failed';
  startedAt: number;
  endedAt: number | null;
  progress: Progress | null;
}
