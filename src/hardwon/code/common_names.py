"""Names of methods that every language's own library has: on a receiver of unknown type they say nothing of this repository."""

from __future__ import annotations

_NAMES = """
abs accept acquire add add_argument addAll addEventListener addListener all allocate any append append_child appendChild apply apply_async
args array as_bytes as_mut as_ptr as_ref as_slice as_str assert assertEqual at await back begin bind borrow borrow_mut build bytes c_str
call cancel capitalize catch ceil charAt charCodeAt chars check chunk clear clone cloned close closest cmp code collect commit compare
compareTo compile complete compute concat connect console contains containsKey content copied copy count create createElement cursor data
debug decode decompress default defer delete deque describe detach difference digest discard dispatch dispose done drain drop each elapsed
emit emplace emplace_back empty enabled encode end ends_with endsWith endswith ensure entries entry enumerate eq equals err error escape
eval every exception exec execute exists exit expand expect extend extract fail fail_now fetch field file fileno fill filter finalize find
find_all findAll findall finditer finish first flat flat_map flatMap flatten flush fold for_each forEach format free freeze from front
full fullmatch generate get get_mut get_or get_or_insert getAll getAttribute getClass getItem getKey getLogger getMessage getName
getOrDefault getValue getvalue global group groupby groups handle has hash hashCode hasNext hasOwnProperty head header height hex
hexdigest include includes indent index indexOf info init inner insert insertBefore instance intern intersection into into_inner into_iter
invoke is_dir is_empty is_err is_file is_none is_ok is_some isalnum isalpha isatty isdecimal isdigit isdisjoint isEmpty isinstance
isPresent isspace issubset issuperset isupper items iter iter_mut iterator join json key keys kind last last_mut lastIndexOf len length
less level limit line lines list listen ljust load loads local lock log lookup loop lower lstrip lt main make map map_err mark match
matchAll matches max merge message method min mkdir mode modify more move move_to name named new next node normalize notify now nth number
off offer ok ok_or on once open option options or order orElse output pack pad padEnd padStart param params parent parse parse_args
partition path pause peek ping poll pop pop_back pop_front popitem popleft position post pow prepend prev print printf println process
properties property pull push push_back push_front push_str put putIfAbsent query quit raise random range raw read read_line read_text
read_to_string readable readAll readFile readLine readline readlines receive recv redirect reduce reject release reload remove removeAll
removeEventListener removeItem removeprefix removesuffix rename render repeat replace replace_all replaceAll request reserve reset resize
resolve response rest result resume retain return reverse reversed rewind rfind rindex rjust rollback root rotate round route row rows
rpartition rsplit rstrip run save scalar scan schedule schema search seek select send sendall serialize serve session set setattr
setAttribute setdefault setItem setName setTimeout setUp setup setValue shape shift shrink shuffle shutdown sign signal size skip sleep
slice some sort sort_by sort_by_key sorted source splice split split_at split_whitespace splitlines stack start starts_with startsWith
startswith stat state status step stop store str stream string strip sub subn subscribe substr substring success sum swap swapcase
symmetric_difference sync tail take tearDown tell test then throw time timeout title to_json to_owned to_string to_vec toArray toBe
toEqual toFixed toISOString toJSON token toList tolist toLowerCase toMatch top toString total toThrow toUpperCase trace transaction
transform translate traverse trim trim_end trim_start trimEnd trimStart truncate try_from try_into type types uint unlink unlock unpack
unsubscribe unwrap unwrap_or unwrap_or_default unwrap_or_else update upper url use value value_of valueOf values verify version visit wait
wake walk warn warning when where width with with_capacity wrap writable write write_all write_str write_text writeFile writelines
writeString zfill zip Add Addr After Append Args Before Bool Bytes Call Cancel Clean Clone Close Code Contains Context Copy Count Data
Deadline Decode Delete Do Done Elem Encode End Equal Err Error Errorf Exec Exit Fail FailNow Fatal Fatalf Field Find Flush Format Get Has
Header Helper Host Index Info Init Int Interface IsNil IsValid IsZero Key Kind Len Less Lines Load Lock Log Logf Map Marshal Match Method
Name New Next Now Ok Open Parse Path Pop Print Printf Println Push Put Query Range Read ReadAll ReadFrom Release Remove Render Replace
Reset Resolve RLock Round Run RUnlock Scan Seek Send Serve ServeHTTP Set Size Skip Skipf Sort Sprintf Start State Status Stop Store String
Sub Sum Swap Sync Time Type Unlock Unmarshal Unwrap Update Value Values Wait Walk Warn With Write WriteHeader WriteString WriteTo
"""
_COMMON = frozenset(_NAMES.split())


def common(name: str) -> bool:
    """Whether standard libraries have methods of that name."""
    return name in _COMMON
