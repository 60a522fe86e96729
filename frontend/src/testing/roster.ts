import type { Roster } from '~/api/types'

/** Return the roster of named VMs, each in the zone of the letter at its place: by default the first of its name. */
export function rosterOf(names: string[], zoneOf = names.map(([first]) => first).join('')): Roster {
  const letters = [...zoneOf]
  return {
    revision: 1,
    vms: names.map((name, key) => ({
      ...{ id: name, key, name, zone_id: letters[key], zone_name: `zone ${letters[key]}` },
    })),
    zones: [...new Set(letters)].map((id) => ({
      ...{
        id,
        name: `zone ${id}`,
        first: letters.indexOf(id),
        count: letters.filter((letter) => letter === id).length,
      },
    })),
  } as Roster
}
