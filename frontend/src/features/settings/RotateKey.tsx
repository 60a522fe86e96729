import { Button, Group } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useRotateApiKey } from '~/api/access'
import type { ApiKey } from '~/api/types'
import { Choice } from '~/ui/Choice'
import { Dialog } from '~/ui/Dialog'
import { ActionError } from '~/ui/State'
import { Secret } from './NewKey'
import { strings } from './strings'

const OVERLAPS = { 0: strings.noOverlap, 3600: strings.oneHour, 86400: strings.oneDay, 604800: strings.sevenDays }

/** Dialog that gives a key a new secret; open while `apiKey` is not null. */
export function RotateKey({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }) {
  const rotate = useRotateApiKey()
  const [overlap, setOverlap] = useState('86400')

  function close() {
    rotate.reset()
    onClose()
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    if (apiKey) rotate.mutate({ id: apiKey.id, overlapS: Number(overlap) })
  }

  return (
    <Dialog title={strings.rotateName(apiKey?.name ?? '')} opened={apiKey !== null} onClose={close}>
      {rotate.data ? (
        <>
          <Secret created={rotate.data} title={strings.keyRotated(rotate.data.name)} />
          <Group justify="end" mt="md">
            <Button onClick={close}>{strings.close}</Button>
          </Group>
        </>
      ) : (
        <form onSubmit={submit}>
          <p>{strings.rotateEffect}</p>
          <Choice label={strings.overlap} data={OVERLAPS} value={overlap} onChange={setOverlap} />
          <ActionError error={rotate.error} />
          <Group justify="end" mt="md">
            <Button variant="default" onClick={close} data-autofocus>
              {strings.cancel}
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              {strings.rotate}
            </Button>
          </Group>
        </form>
      )}
    </Dialog>
  )
}
