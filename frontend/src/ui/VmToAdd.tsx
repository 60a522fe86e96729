import { Select } from '@mantine/core'
import type { ReactNode } from 'react'
import { NoRows } from './NoRows'
import { strings } from './strings'

/** Options below the field: typing narrows down the others. */
const MOST = 50

interface Props {
  label: string
  /** The VMs that can be added; undefined while they load. */
  vms: { id: string; name: string; zone: string }[] | undefined
  /** The reason why there is none, and the next step. */
  none: ReactNode
  next?: ReactNode
  onAdd: (vmId: string) => void
}

/** A searchable choice of the VMs that can be added to something, or the reason why there is none. */
export function VmToAdd({ label, vms, none, next, onAdd }: Props) {
  if (vms?.length === 0) return <NoRows next={next}>{none}</NoRows>
  return (
    <Select
      label={label}
      placeholder={vms ? strings.chooseVm(vms.length) : strings.loadingVms}
      disabled={!vms}
      searchable
      limit={MOST}
      nothingFoundMessage={strings.noSuchVm}
      data={(vms ?? []).map(({ id, name, zone }) => ({ value: id, label: strings.inZone(name, zone) }))}
      value={null}
      onChange={(vmId) => vmId && onAdd(vmId)}
      w={320}
      maw="100%"
    />
  )
}
