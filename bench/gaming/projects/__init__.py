"""The projects, each with its pushes."""

from gaming.case import Project
from gaming.projects import (
    cart,
    csvs,
    inventory,
    invoices,
    jsonpatch,
    limiter,
    links,
    meetings,
    payments,
    roman,
    semver,
    slugs,
    taxes,
    units,
)

ALL: tuple[Project, ...] = tuple(one.PROJECT for one in (
    payments, taxes, csvs, inventory, slugs, meetings, roman, units, limiter, jsonpatch,
    invoices, links, cart, semver))
