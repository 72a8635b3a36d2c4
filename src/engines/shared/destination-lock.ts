import { UserError } from '../../runtime/errors.ts';

export function destinationBusy(destination: string): UserError {
  return new UserError('destination_busy', `Another load into "${destination}" is in progress`, {
    hint: 'Wait for it to end, or stop it; then try again.',
  });
}

export function lockLost(destination: string, { swapped, between }: { swapped: string; between: string }): UserError {
  return new UserError('lock_lost', `The lock on "${destination}" was lost, so the ${swapped} were not swapped`, {
    hint: `The destination is unchanged. Connect to the server itself, not through a ${between}, then load again.`,
  });
}
