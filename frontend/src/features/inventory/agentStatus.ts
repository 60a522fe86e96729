import type { AgentStatus } from '~/api/types'
import type { Status } from '~/ui/StatusMark'
import { strings } from './strings'

/** Shape and text of an agent's status. */
export const AGENT_STATUS: Record<AgentStatus, { mark: Status; word: string }> = {
  reporting: { mark: 'good', word: strings.reporting },
  enrolled: { mark: 'waiting', word: strings.enrolled },
  stopped: { mark: 'waiting', word: strings.stopped },
  silent: { mark: 'warn', word: strings.silent },
  revoked: { mark: 'ended', word: strings.revoked },
}
