"""The ids of what is derived: made of a commit's hash or a passage's name, so that they are the same whenever it is read.

They are made within a namespace, which is the id of the repository in the registry where the store began, and stays that when the store
goes on elsewhere: a backup that is restored on another machine meets another id there, and its commits and passages keep theirs.
"""

from __future__ import annotations

from hardwon.store.ids import uuid5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer

# A setting of the store: the namespace, where it is not the registered id.
NAMESPACE = "namespace"


def derived_id(engine: Engine, name: str) -> str:
    """The id of the memory of a commit (its hash) or of a passage (its name), known before it is read."""
    return uuid5(of_engine(engine), name)


def of_engine(engine: Engine) -> str:
    """The namespace of the store that the engine works on; asked anew when another file took the store's place."""
    path = engine.store.path
    if not path:
        return engine.repository
    from hardwon.store.handle import file_at

    file = file_at(path)
    if engine.namespace is None or engine.namespace[0] != file:
        with engine.store.read() as reader:
            engine.namespace = (file, reader.setting(NAMESPACE) or engine.repository)
    return engine.namespace[1]


def of_store(reader: Reader) -> str:
    """The namespace that a store tells of itself."""
    return reader.setting(NAMESPACE) or reader.setting("repository")


def adopt(writer: Writer, repository: str) -> None:
    """Register a store under another id; what is derived keeps its ids."""
    namespace = of_store(writer)
    if namespace and namespace != repository:
        writer.set_setting(NAMESPACE, namespace)
    writer.set_setting("repository", repository)
