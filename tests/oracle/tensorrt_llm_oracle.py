"""Oracle for TensorRT-LLM's scheduling rules in plain Python, with the pool and the loop it runs on; kept as it came."""
"""What the oracle runs on: a request, a paged KV pool (one window, beam 1), an executor loop."""
from enum import Enum
from types import SimpleNamespace
class ST(Enum): CONTEXT_INIT=10; GENERATION_IN_PROGRESS=13; GENERATION_COMPLETE=20
class Req:
    def __init__(s,i,prompt_len,out_len,max_new=None,tokens=None,drafts=0):
        s.request_id=s.py_request_id=i; s.prompt_len=prompt_len; s.max_new=max_new or out_len; s.out_len=out_len; s.ngen=0; s.nout=0
        s.state=ST.CONTEXT_INIT; s.pos=0; s._chunk=prompt_len; s.prepop=0; s.estimated_reusable_tokens=0; s.num_draft_tokens=drafts; s.tokens=tokens or []; s.is_disagg_generation_init_state=False
    state_value=property(lambda s:s.state.value)
    is_context_init_state=property(lambda s:s.state==ST.CONTEXT_INIT)
    is_generation_in_progress_state=property(lambda s:s.state==ST.GENERATION_IN_PROGRESS)
    context_current_position=property(lambda s:s.pos)
    context_remaining_length=property(lambda s:s.prompt_len-s.pos)
    is_first_context_chunk=property(lambda s:s.pos==s.prepop)
    is_last_context_chunk=property(lambda s:s.pos+s._chunk==s.prompt_len)
    @property
    def context_chunk_size(s): return s._chunk
    @context_chunk_size.setter
    def context_chunk_size(s,v): s._chunk=min(v,s.prompt_len-s.pos)
    def has_draft_tokens(s): return s.num_draft_tokens>0
    def discard_draft_tokens(s,n): s.num_draft_tokens-=n
    def get_num_tokens(s,b): return s.prompt_len+s.ngen
    def get_beam_width_by_iter(s,for_next_iteration=False): return 1
    def get_unique_tokens(s,b): return s.tokens[:s.prompt_len]
class KV:
    """blocks: total, tpb tokens each. Whole prompt is allocated with its first chunk; one block more when a generated token needs it."""
    def __init__(s,total,tpb,reuse=False):
        s.total=total; s.tpb=tpb; s.enable_block_reuse=reuse; s.is_variable_window=False; s.max_attention_window_vec=[1<<20]
        s.held={}; s.ntok={}; s.tree={}; s.blk_of={}; s.ref={}; s.lru=[]; s.next=0; s.free_plain=list(range(total)); s.key={}
    def nfree(s): return len(s.free_plain)+len(s.lru)
    def get_kv_cache_stats(s): return SimpleNamespace(num_free_blocks_per_window_size={1<<20:s.nfree()})
    def cdiv(s,n): return -(-n//s.tpb)
    # ---- reuse tree: key = tuple of the tokens up to the block end
    def keys(s,tok): return [tuple(tok[:(i+1)*s.tpb]) for i in range(len(tok)//s.tpb)]
    def match(s,tok):
        n=[]
        for k in s.keys(tok[:len(tok)-1]):       # at most prompt-1 tokens
            if k in s.tree: n.append(s.tree[k])
            else: break
        return n
    def analyze_prefix_reuse(s,tok,req):
        m=s.match(tok); ks=s.keys(tok); first=None
        for k in ks:
            if k not in s.tree: first=k; break
        return SimpleNamespace(first_new_block=first,all=len(m),alloc=sum(1 for b in m if s.ref.get(b,0)>0))
    def get_remaining_blocks_to_completion(s,req,ws,cached_summary=None):
        tot=s.cdiv(req.prompt_len+req.max_new); held=len(s.held.get(req.request_id,[])); cr=0
        if s.enable_block_reuse and req.is_context_init_state and req.is_first_context_chunk and held==0:
            sm=cached_summary or s.analyze_prefix_reuse(req.tokens[:req.prompt_len],req)
            req.estimated_reusable_tokens=sm.all*s.tpb; cr=sm.alloc
        return tot-held-cr
    def get_needed_blocks_one_step(s,req,two,ws,cached_summary=None):
        if req.is_context_init_state and req.is_first_context_chunk:
            cr=0
            if s.enable_block_reuse:
                sm=cached_summary or s.analyze_prefix_reuse(req.tokens[:req.prompt_len],req)
                req.estimated_reusable_tokens=sm.all*s.tpb; cr=sm.alloc
            return s.cdiv(req.prompt_len+req.num_draft_tokens)-cr
        if req.is_generation_in_progress_state:
            cur=s.ntok[req.request_id]; left=req.max_new-(cur-req.prompt_len); add=min((2 if two else 1)*(1+req.num_draft_tokens),left)
            return s.cdiv(cur+add)-s.cdiv(cur)
        return 0
    def start_scheduling(s): s.sfree=s.nfree()
    def scheduling_remove_sequence(s,i): s.sfree+=sum(1 for b in s.held.get(i,[]) if s.ref[b]==1)
    def scheduling_has_free_blocks(s,n,ws): return n<=s.sfree
    # ---- real allocation
    def take(s):
        if s.free_plain: b=s.free_plain.pop(0)
        else:
            b=s.lru.pop(0); s.tree.pop(s.key.pop(b))
        s.ref[b]=1; return b
    def add_sequence(s,req):
        bl=[]
        if s.enable_block_reuse:
            for b in s.match(req.tokens[:req.prompt_len]):
                if s.ref.get(b,0)==0: s.lru.remove(b)
                s.ref[b]=s.ref.get(b,0)+1; bl.append(b)
            n=len(bl)*s.tpb
            req.prepop=n
            if n:
                c=req._chunk
                if n+c<req.prompt_len: c=(n+c)//s.tpb*s.tpb-n
                req.pos=n; req.context_chunk_size=c
        while len(bl)<s.cdiv(req.prompt_len): bl.append(s.take())
        s.held[req.request_id]=bl; s.ntok[req.request_id]=req.prompt_len
    def add_token(s,req):
        i=req.request_id; s.ntok[i]+=1
        while len(s.held[i])<s.cdiv(s.ntok[i]): s.held[i].append(s.take())
    def store(s,req,ntok):
        for k,b in zip(s.keys(req.tokens[:ntok]),s.held[req.request_id]):
            if k not in s.tree: s.tree[k]=b; s.key[b]=k
    def remove(s,req,ntok):
        if s.enable_block_reuse: s.store(req,ntok)
        for b in reversed(s.held.pop(req.request_id)):
            s.ref[b]-=1
            if s.ref[b]==0:
                if b in s.key: s.lru.append(b)
                else: s.free_plain.insert(0,b)
        s.ntok.pop(req.request_id)
def run(sc,make_scheduler,max_steps=5000):
    c=sc['config']; kv=KV(c['num_blocks'],c['tokens_per_block'],c.get('block_reuse',False))
    sch=make_scheduler(c,kv)
    R=sc['requests']; active=[]; nxt=0; step=0; out=[]; ended='done'
    reqs=[]
    for i,r in enumerate(R):
        sh=r.get('shared_prefix',0); g=r.get('group',0)
        tok=[10**6*(g+1)+p if p<sh else 10**8+i*10**5+p for p in range(r['prompt_len']+r['output_len']+2)]
        reqs.append(Req(i,r['prompt_len'],r['output_len'],r.get('max_new'),tok))
    order=sorted(range(len(R)),key=lambda i:(R[i]['arrival_step'],i))
    while (nxt<len(R) or active) and step<max_steps:
        arr=[]
        while nxt<len(R) and R[order[nxt]]['arrival_step']<=step: active.append(reqs[order[nxt]]); arr.append(order[nxt]); nxt+=1
        ctx,gen,paused,fit=sch.schedule_request(active,set())
        ctx=list(ctx); gen=list(gen)
        st={'s':step}
        if arr: st['arr']=arr
        if paused:
            st['paused']=[r.request_id for r in paused]
            for r in paused:
                kv.remove(r,r.pos if r.is_context_init_state else kv.ntok[r.request_id])
                r.prompt_len+=r.ngen; r.max_new-=r.ngen; r.ngen=0; r.state=ST.CONTEXT_INIT; r.pos=0; r.prepop=0; r._chunk=r.prompt_len; r.estimated_reusable_tokens=0
        st['fit']=[r.request_id for r in fit]
        rec=[]
        for r in ctx:
            reuse=0
            if r.request_id not in kv.held:
                kv.add_sequence(r); reuse=r.prepop
            rec.append([r.request_id,r.pos,r._chunk]+([reuse] if reuse else []))
        for r in gen: kv.add_token(r)
        if rec: st['ctx']=rec
        if gen: st['gen']=[r.request_id for r in gen]
        st['tok']=sum(x[2] for x in rec)+len(gen)
        st['used']=kv.total-kv.nfree()
        fin=[]
        for r in ctx:
            r.pos+=r._chunk
            if r.pos==r.prompt_len:
                if kv.enable_block_reuse: kv.store(r,r.prompt_len)
                r.ngen+=1; r.nout+=1; r.state=ST.GENERATION_IN_PROGRESS
        for r in gen: r.ngen+=1; r.nout+=1
        for r in list(active):
            if r.nout>=r.out_len:
                fin.append(r.request_id); kv.remove(r,kv.ntok[r.request_id]); active.remove(r); r.state=ST.GENERATION_COMPLETE
        if fin: st['fin']=fin
        st['used_after']=kv.total-kv.nfree(); st['active']=[r.request_id for r in active]
        out.append(st); step+=1
        if not ctx and not gen and active and not paused and nxt>=len(R): ended='stuck'; break
    if step>=max_steps: ended='max_steps'
    return {'scenario':sc,'ended':ended,'n_steps':len(out),'n_pauses':sum(len(s.get('paused',[])) for s in out),'steps':out}

import json,glob,sys


def cost(chunk,reuse,rest): return chunk if reuse<=0 or reuse+chunk<rest else max(0,rest-reuse)
def capacity(c,kv,act):
    cap=c.get('max_num_requests') or c['max_batch_size']; pol=c['policy']; aware=c.get('block_reuse') and c.get('prefix_aware',True)
    isctx=lambda r:r.is_context_init_state; first=lambda r:isctx(r) and r.pos==r.prepop
    seen=set()
    if aware and (pol!='STATIC_BATCH'):
        for r in act:
            if isctx(r) and not first(r):
                f=kv.analyze_prefix_reuse(r.tokens[:r.prompt_len],r).first_new_block
                if f is not None: seen.add(f)
    def dup(r):
        if not aware or pol=='STATIC_BATCH' or not first(r): return False
        f=kv.analyze_prefix_reuse(r.tokens[:r.prompt_len],r).first_new_block
        if f is None: return False
        if f in seen: return True
        seen.add(f); return False
    out=[]
    if pol!='MAX_UTILIZATION':
        free=kv.nfree(); pend=[]
        rem=lambda r:kv.get_remaining_blocks_to_completion(r,0)
        for r in act:
            if len(out)>=cap: break
            if isctx(r): pend.append(r)
            else: out.append(r); free-=rem(r)
        if pol=='STATIC_BATCH' and out: return out,[]
        for r in pend:
            if dup(r): continue
            if len(out)>=cap: break
            n=rem(r)
            if n>free:
                break
            out.append(r); free-=n
        return out,[]
    free=kv.nfree(); used=0; end=len(act); i=0; paused=[]
    need=lambda r:kv.get_needed_blocks_one_step(r,c.get('two_step_lookahead',False),0)
    while i<end:
        r=act[i]
        if dup(r): i+=1; continue
        if len(out)<cap and used+(n:=need(r))<=free: used+=n; out.append(r); i+=1; continue
        rng=range(end-1,i-1,-1)
        v=next((j for j in rng if not first(act[j])),None)
        if v is None: break
        free+=sum(1 for b in kv.held.get(act[v].request_id,[]) if kv.ref[b]==1); paused.append(act[v])
        end=v
    return out,paused
def micro(c,fit):
    T=c['max_num_tokens']; chunk=c.get('chunk_policy'); unit=c.get('chunk_unit',c['tokens_per_block'])
    ctx=[]; gen=[]; used=0; n=0; todo=[]; tot=0; fits=True
    reu=lambda r:r.estimated_reusable_tokens if r.pos==r.prepop else 0
    for r in fit:
        rest=r.prompt_len-r.pos
        if r.is_context_init_state:
            k=cost(rest,reu(r),rest)
            if not chunk:
                k=max(1,k)
                if used+k>T:
                    break
                r._chunk=rest; ctx.append(r); used+=k
            else:
                r._chunk=rest; 
                if k>T: k=T; fits=False
                todo.append(r); tot+=k
        else:
            if used+1>T: break
            gen.append(r); used+=1
        n+=1
        if n>=c['max_batch_size']: break
    if tot>T-used: fits=False
    if not fits and todo:
        room=T-used
        for r in todo: r._chunk=0
        if chunk=='EQUAL_PROGRESS':
            done=0; prog=1
            while done<room and prog:
                prog=0
                for r in todo:
                    rest=r.prompt_len-r.pos; a=r._chunk; b=min(a+unit,rest); ru=min(reu(r),rest); d=cost(b,ru,rest)-cost(a,ru,rest)
                    if done+d>room or b>T: continue
                    r._chunk=b; done+=d; prog+=b-a
        else:
            for r in todo:
                rest=r.prompt_len-r.pos; ru=min(reu(r),rest); k=rest
                if room<cost(rest,ru,rest): k=room
                if cost(k,ru,rest)>T: k=min(T,rest)
                if k<rest: k=k//unit*unit
                r._chunk=k; room-=cost(k,ru,rest)
    todo=[r for r in todo if r._chunk>0]
    ctx+=todo
    if not fits: ctx=[r for r in ctx if not r.is_last_context_chunk]+[r for r in ctx if r.is_last_context_chunk]
    return ctx,gen
class Sched:
    def __init__(s,c,kv): s.c=c; s.kv=kv
    def schedule_request(s,act,infl):
        f,p=capacity(s.c,s.kv,list(act)); a,b=micro(s.c,f); return a,b,p,f
def compare(path):
    t=json.load(open(path)); sc=t['scenario']
    u=run(sc,Sched)
    bad=[]; nf=0
    if t['ended']!=u['ended'] or len(t['steps'])!=len(u['steps']): bad.append(('end',t['ended'],u['ended'],len(t['steps']),len(u['steps'])))
    for a,b in zip(t['steps'],u['steps']):
        for k in ('arr','fit','ctx','gen','paused','tok','used','fin','used_after','active'):
            nf+=1
            if a.get(k)!=b.get(k): bad.append((a['s'],k,a.get(k),b.get(k)))
    return bad,len(t['steps']),nf
if __name__=='__main__':
    F=sys.argv[1:]; g=[0,0,0]
    for f in F:
        b,n,nf=compare(f); g[0]+=not b; g[1]+=n; g[2]+=nf
        if b: print('BAD',f,b[:2])
    print(f'{g[0]} of {len(F)} traces equal; {g[1]} steps, {g[2]} fields')
