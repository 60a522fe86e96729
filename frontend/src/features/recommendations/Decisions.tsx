import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useDecide, useDismiss } from '~/api/recommendations'
import type { Recommendation } from '~/api/types'
import { Dialog } from '~/ui/Dialog'
import { ActionError } from '~/ui/State'

/** What can be decided about a recommendation as it stands. */
export function Decisions({ found, etag }: { found: Recommendation; etag: string }) {
  const decide = useDecide(found.id, etag)
  const dismiss = useDismiss(found.id, etag)
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  if (!['proposed', 'accepted'].includes(found.state) || found.steps.length === 0) return null
  return (
    <>
      <Group gap="xs">
        <Button variant="default" onClick={() => setAsking(true)}>
          Dismiss…
        </Button>
        {found.state === 'proposed' && (
          <Button variant="default" loading={decide.isPending} onClick={() => decide.mutate('accept')}>
            Accept
          </Button>
        )}
        <Button loading={decide.isPending} onClick={() => decide.mutate('apply')}>
          The moves are made
        </Button>
      </Group>
      <ActionError error={decide.error} />
      <Dialog title="Dismiss these moves" opened={asking} onClose={() => setAsking(false)}>
        <TextInput
          label="Why"
          placeholder="maintenance on Tuesday"
          maxLength={2000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ActionError error={dismiss.error} />
        <Group justify="end" mt="md">
          <Button variant="default" onClick={() => setAsking(false)}>
            Cancel
          </Button>
          <Button
            loading={dismiss.isPending}
            onClick={() => dismiss.mutate(reason, { onSuccess: () => setAsking(false) })}
          >
            Dismiss
          </Button>
        </Group>
      </Dialog>
    </>
  )
}
