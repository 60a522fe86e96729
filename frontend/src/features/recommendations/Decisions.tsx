import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useDecide, useDismiss } from '~/api/recommendations'
import type { Recommendation } from '~/api/types'
import { longest } from '~/ui/CheckedInput'
import { Dialog } from '~/ui/Dialog'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

/** The decisions that the state of a recommendation allows. */
export function Decisions({ recommendation, etag }: { recommendation: Recommendation; etag: string }) {
  const decide = useDecide(recommendation.id, etag)
  const dismiss = useDismiss(recommendation.id, etag)
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  if (!['proposed', 'accepted'].includes(recommendation.state) || recommendation.steps.length === 0) return null
  return (
    <>
      <Group gap="xs">
        <Button variant="default" onClick={() => setAsking(true)}>
          {strings.dismissEllipsis}
        </Button>
        {recommendation.state === 'proposed' && (
          <Button variant="default" loading={decide.isPending} onClick={() => decide.mutate('accept')}>
            {strings.accept}
          </Button>
        )}
        <Button loading={decide.isPending} onClick={() => decide.mutate('apply')}>
          {strings.markApplied}
        </Button>
      </Group>
      <ActionError error={decide.error} />
      <Dialog title={strings.dismissMoves} opened={asking} onClose={() => setAsking(false)}>
        <TextInput
          label={strings.reason}
          placeholder={strings.reasonExample}
          {...longest(2000)}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ActionError error={dismiss.error} />
        <Group justify="end" mt="md">
          <Button variant="default" onClick={() => setAsking(false)}>
            {strings.cancel}
          </Button>
          <Button
            loading={dismiss.isPending}
            onClick={() => dismiss.mutate(reason, { onSuccess: () => setAsking(false) })}
          >
            {strings.dismiss}
          </Button>
        </Group>
      </Dialog>
    </>
  )
}
