/** Runs the first statements of a new session, and closes it when one fails. */
export async function prepareSession<Session extends { close(): Promise<void> }>(
  session: Session,
  work: (session: Session) => Promise<unknown>,
): Promise<Session> {
  try {
    await work(session);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}
