import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useCreateZone, useDeleteZone, vmsQuery, zonesQuery } from '~/api/inventory'
import type { Zone } from '~/api/types'
import { Problem } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Failed, Loading } from '~/ui/State'

/** Where things run. Agents name their zone when they enrol; it can also be added by hand. */
export function ZonesPage() {
  const zones = useQuery(zonesQuery)
  const { data: vms } = useQuery(vmsQuery)
  const remove = useDeleteZone()
  const [deleting, setDeleting] = useState<Zone | null>(null)
  if (zones.error && !zones.data) {
    return <Failed what="The list of zones" error={zones.error} retry={() => void zones.refetch()} />
  }
  if (!zones.data) return <Loading what="zones" />
  const count = (zone: Zone) => vms?.filter((vm) => vm.zone.id === zone.id).length
  return (
    <Page
      title="Zones"
      lead="Where machines run. An agent names its zone when it enrols; a zone can also be added here."
    >
      {zones.data.length > 0 && (
        <Records
          label="Zones"
          rows={zones.data}
          id={(zone) => zone.id}
          columns={[
            { title: 'Zone', cell: (zone) => zone.name, as: 'head' },
            { title: 'Region', cell: (zone) => zone.region },
            { title: 'Provider', cell: (zone) => zone.provider },
            {
              title: 'Physical id',
              cell: (zone) => zone.physical_id ?? <span className={pageStyles.quiet}>not told</span>,
            },
            { title: 'VMs', cell: (zone) => formatCount(count(zone)), as: 'number' },
            {
              title: 'Actions',
              cell: (zone) => (
                <RowAction label={`Delete ${zone.name}`} onClick={() => setDeleting(zone)}>
                  Delete
                </RowAction>
              ),
            },
          ]}
        />
      )}
      <NewZone />
      <Confirm
        title={`Delete ${deleting?.name}`}
        action="Delete"
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        Only a zone without VMs can be deleted.
      </Confirm>
    </Page>
  )
}

function NewZone() {
  const create = useCreateZone()
  const field = (name: string) => (create.error instanceof Problem ? create.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    const text = (name: string) => String(form.get(name)).trim()
    create.mutate(
      {
        provider: text('provider'),
        region: text('region'),
        name: text('name'),
        physical_id: text('physical_id') || null,
      },
      { onSuccess: () => element.reset() },
    )
  }

  return (
    <Panel title="Add a zone">
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput name="provider" label="Provider" placeholder="aws" required error={field('provider')} w={120} />
        <TextInput name="region" label="Region" placeholder="eu-west-1" required error={field('region')} w={150} />
        <TextInput name="name" label="Zone" placeholder="eu-west-1a" required error={field('name')} w={150} />
        <TextInput name="physical_id" label="Physical id" placeholder="euw1-az2" error={field('physical_id')} w={150} />
        <Button type="submit" size="sm" variant="default" loading={create.isPending}>
          Add
        </Button>
      </form>
      <ActionError error={create.error} />
    </Panel>
  )
}
