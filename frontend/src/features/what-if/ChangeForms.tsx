import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { curvesQuery } from '~/api/curves'
import type { Application } from '~/api/types'
import type { Change } from '~/lib/changes'
import { named } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { strings } from './strings'

interface Props {
  vms: { name: string; zone_name: string }[]
  applications: Application[]
  onChange: (change: Change) => void
}

/** Changes that are not dragged: added latency, recreated VMs, other curves. */
export function ChangeForms({ vms, applications, onChange }: Props) {
  const curves = useQuery(curvesQuery)
  const zones = [...new Set(vms.map(({ zone_name }) => zone_name))].sort()

  const form = (toChange: (value: (name: string) => string) => Change) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    onChange(toChange((name) => String(data.get(name))))
  }

  return (
    <>
      <form
        className={pageStyles.form}
        aria-label={strings.addedLatency}
        onSubmit={form((value) => ({
          kind: 'latency',
          zones: [value('first'), value('second')],
          added_us: Number(value('added')),
        }))}
      >
        <Choice name="first" label={strings.betweenZone} data={zones} />
        <Choice name="second" label={strings.andZone} data={zones} defaultValue={zones[1] ?? zones[0] ?? ''} />
        <NumberField name="added" label={strings.addedMicroseconds} defaultValue={200} step="any" required w={160} />
        <Button type="submit" variant="default">
          {strings.addLatency}
        </Button>
      </form>
      <form
        className={pageStyles.form}
        aria-label={strings.recreateVm}
        onSubmit={form((value) => ({ kind: 'vm', vm: value('vm'), zone: value('zone') }))}
      >
        <Choice name="vm" label={strings.vm} data={vms.map(({ name }) => name)} />
        <Choice name="zone" label={strings.recreateIn} data={zones} />
        <Button type="submit" variant="default">
          {strings.recreate}
        </Button>
      </form>
      {applications.length > 0 && (
        <form
          className={pageStyles.form}
          aria-label={strings.otherCurve}
          onSubmit={form((value) => ({ kind: 'curve', application: value('application'), curve: value('curve') }))}
        >
          <Choice name="application" label={strings.application} data={applications.map(({ name }) => name)} />
          <Choice name="curve" label={strings.newCurve} data={named(curves.data)} />
          <Button type="submit" variant="default">
            {strings.changeCurve}
          </Button>
        </form>
      )}
    </>
  )
}
